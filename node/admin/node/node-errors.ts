import type { Problem } from '../../../lib/interface/index.ts'
import { DEFAULT_PROFILE } from '../../profile/profile.ts'

/** A refusal of the admin API: its problem document as an error. Match on `code`. */
export class AdminProblem extends Error {
  override readonly name = 'AdminProblem'
  readonly code: string
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.code = problem.code
    this.problem = problem
  }
}

/** No node answers for the profile: none said that it runs, or nothing listens where it said so. */
export class NodeNotRunning extends Error {
  override readonly name = 'NodeNotRunning'
  readonly code = 'node_not_running'
  readonly hint: string

  /** @param others profiles that do have a running node, as far as their files say */
  constructor(profile: string, others: readonly string[] = [], cause?: unknown) {
    super(`No node is running on the profile "${profile}".`, cause === undefined ? undefined : { cause })
    this.hint = [...others.map((other) => `--profile ${other}`), startOf(profile)].join(', or ')
  }
}

/** Somebody took the connection, and gave no response of a node. Whether what was asked for was done is not known. */
export class NodeSilent extends Error {
  override readonly name = 'NodeSilent'
  readonly code = 'node_silent'
  readonly hint: string

  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.hint = options.hint ?? 'souk status, and what the node said last where it was started'
  }
}

function startOf(profile: string): string {
  return profile === DEFAULT_PROFILE ? 'souk up' : `souk up --profile ${profile}`
}

/** Nothing listened: the request was never sent. */
const REFUSED = new Set(['ECONNREFUSED', 'ENOENT'])
const LATE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

/** What a failed `fetch` of the admin API means. Whoever gave the request up hears their own reason. */
export function fetchFailure(error: unknown, profile: string, url: string): unknown {
  if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')) return error
  const code = systemCode(error)
  if (REFUSED.has(code)) return new NodeNotRunning(profile, [], error)
  const what = LATE.has(code)
    ? `The node of the profile "${profile}" took the request at ${url} and did not answer in time.`
    : `The connection to the node of the profile "${profile}" at ${url} broke (${code}): it may have stopped meanwhile.`
  return new NodeSilent(what, { cause: error })
}

/** What answers there is no node: some other program may have got the port since. */
export function otherProgram(profile: string, url: string): NodeSilent {
  return new NodeSilent(`Another program answers at ${url}, where the node of the profile "${profile}" was.`, {
    hint: startOf(profile)
  })
}

/** Node wraps the system's error once or more, and gathers those of several addresses. */
function systemCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError && error.errors.length > 0) return systemCode(error.errors[0])
  return error.cause === undefined ? 'unknown' : systemCode(error.cause)
}
