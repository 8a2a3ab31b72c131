import type { Problem } from '../../../lib/interface/index.ts'
import { commandFor, DEFAULT_PROFILE } from '../../profile/profile.ts'

/** The admin API returned this problem document. Match on `code`. */
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

/** Profiles by which the nodes of `demo` and `dev` find each other. No user means them. */
const FIRST_NODES: ReadonlySet<string> = new Set(['demo-bootstrap', 'dev-bootstrap'])

/** No node runs on the profile: its file is missing, or nothing listens at the address in that file. */
export class NodeNotRunning extends Error {
  override readonly name = 'NodeNotRunning'
  readonly code = 'node_not_running'
  readonly hint: string

  /**
   * @param others profiles with a running node, according to their files
   * @param isNew the profile does not exist yet, so one of the others is probably meant
   */
  constructor(profile: string, others: readonly string[] = [], isNew = false, cause?: unknown) {
    super(`No node is running on the profile "${profile}".`, cause === undefined ? undefined : { cause })
    const these = others.filter((other) => !FIRST_NODES.has(other)).map((other) => `--profile ${other}`)
    this.hint = (isNew ? [...these, commandFor(profile, 'init')] : [startOf(profile), ...these]).join(', or ')
  }
}

/** The connection was accepted, but no response of a node arrived. The request may or may not have taken effect. */
export class NodeSilent extends Error {
  override readonly name = 'NodeSilent'
  readonly code = 'node_silent'
  readonly hint: string

  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.hint = options.hint ?? 'souk status, and the last log lines of the node'
  }
}

function startOf(profile: string): string {
  return profile === DEFAULT_PROFILE ? 'souk up' : `souk up --profile ${profile}`
}

/** No process listened, so the request was never sent. */
const REFUSED = new Set(['ECONNREFUSED', 'ENOENT'])
const LATE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

/** Translates a failed `fetch` of the admin API. The caller's own abort reason passes unchanged. */
export function fetchFailure(error: unknown, profile: string, url: string): unknown {
  if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')) return error
  const code = systemCode(error)
  if (REFUSED.has(code)) return new NodeNotRunning(profile, [], false, error)
  const what = LATE.has(code)
    ? `The node of the profile "${profile}" accepted the request at ${url} and did not respond in time.`
    : `The connection to the node of the profile "${profile}" at ${url} failed (${code}). The node may have stopped.`
  return new NodeSilent(what, { cause: error })
}

/** The responding program is not a node. Another program may have taken the port since the node stopped. */
export function otherProgram(profile: string, url: string): NodeSilent {
  return new NodeSilent(
    `Another program responds at ${url}, the last address of the node of the profile "${profile}".`,
    {
      hint: startOf(profile)
    }
  )
}

/** Node.js wraps the system error, maybe more than once, and groups the errors of several addresses. */
function systemCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError && error.errors.length > 0) return systemCode(error.errors[0])
  return error.cause === undefined ? 'unknown' : systemCode(error.cause)
}
