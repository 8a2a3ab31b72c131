import type { Problem } from '../../../lib/interface/index.ts'
import { exitCodeOf } from './exit-code.ts'

/** A failed command as a person, or a script, is told of it. */
export interface Failure {
  readonly code: string
  readonly exitCode: number
  readonly what: string
  readonly why?: string
  readonly hint?: string
  readonly requestId?: string
}

/** What to try, by the code of a problem. */
const HINTS: Readonly<Record<string, string>> = {
  admin_token_invalid: 'souk status, with --profile <name> if you run several nodes',
  api_not_found: 'souk search, or souk api list for your own',
  api_paused: 'again later, or souk api resume <name> if it is yours',
  api_retired: 'souk search, for another one',
  backup_not_supported: 'the tool that the message names',
  call_interrupted: 'whether it was done, before it is repeated; with --idempotency-key a repeat is safe',
  idempotency_in_flight: 'again in a moment, with the same key',
  idempotency_mismatch: 'another --idempotency-key, as this is another call',
  insufficient_funds: 'souk wallet deposit',
  invalid_request: 'the arguments again; --help behind the command says what each of them is',
  key_not_permitted: 'asking the provider for: souk provider delegate <your peer id>',
  lookup_timeout: 'again, or souk peers to see who is connected',
  method_not_allowed: 'souk call without --method and --path',
  operation_not_found: 'souk market show <api>, which lists its operations',
  overloaded: 'again in a moment',
  owner_unreachable: 'again in a moment, or souk peers to see who is connected',
  payment_required: 'souk doctor, which says whether this node can pay',
  price_exceeds_limit: 'a higher --max-price',
  quota_exceeded: 'souk subscriptions list, which says when it starts anew; or another plan: souk subscriptions change',
  rate_limited: 'again in a moment',
  request_too_large: 'a smaller body; a provider takes more with: souk api register --request-bytes-max',
  settlement_pending: 'again in a moment; nothing is sent or paid twice',
  settlement_unavailable: 'souk doctor, which says what is missing',
  spend_cap_reached: 'again after midnight UTC, or a higher --daily-cap of: souk up, or souk subscriptions change',
  description_too_complex: 'a description with fewer or smaller schemas; the message names the limit',
  storage_full: 'free space on the disk of the profile; souk doctor says how much is needed',
  store_unavailable: 'again when the database answers; souk status says why it does not',
  subscription_inactive: 'souk subscriptions list, which says why',
  request_expired: 'the clock of this machine',
  subscription_required: 'souk market show <api>, which lists its plans; then souk subscribe',
  upstream_invalid_response: 'the --protocol and --endpoint again',
  upstream_timeout: 'again, or a longer --timeout-ms',
  upstream_unreachable: 'whether the endpoint answers from this machine, e.g. with curl'
}

const OURS = new Set(['SetupError', 'SoukError', 'NodeNotRunning', 'NodeSilent', 'UsageError'])

/** Caused by a failed fetch, whose words help nobody. */
const OF_FETCH = new Set(['node_not_running', 'node_silent'])

/** Errors are known by their shape, not their class: those of the admin client, of setup and of the command line. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return internal(String(error))
  if ('problem' in error) return problemFailure(error.problem as Problem)
  const code = 'code' in error ? String(error.code) : ''
  if (!OURS.has(error.name)) return internal(error.stack ?? error.message)
  const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined
  // On this machine the system's own words may be shown, and help; those of a failed fetch never do.
  const why = error.cause instanceof Error && !OF_FETCH.has(code) ? error.cause.message : undefined
  return {
    code,
    exitCode: exitCodeOf(code),
    what: error.message,
    ...(why === undefined ? {} : { why }),
    ...(hint === undefined ? {} : { hint })
  }
}

function problemFailure(problem: Problem): Failure {
  const hint = candidatesHint(problem) ?? HINTS[problem.code]
  // What the schema of the admin API refused, the command line let through by mistake of whoever typed it.
  const isUsage = problem.code === 'invalid_request' && Array.isArray(problem['invalid'])
  // That the request is not valid says nothing that its detail does not.
  const isPlain = problem.code === 'invalid_request'
  return {
    code: problem.code,
    exitCode: exitCodeOf(isUsage ? 'usage' : problem.code),
    what: isPlain ? problem.detail : problem.title,
    requestId: problem.request_id,
    ...(isPlain || problem.detail === problem.title ? {} : { why: problem.detail }),
    ...(hint === undefined ? {} : { hint })
  }
}

function candidatesHint(problem: Problem): string | undefined {
  const candidates = problem['candidates']
  if (!Array.isArray(candidates)) return undefined
  const [first] = candidates as unknown[]
  const id = typeof first === 'string' ? first : undefined
  return id === undefined ? undefined : `souk call ${id}, or souk pin ${id} to settle it`
}

function internal(why: string): Failure {
  return {
    code: 'internal_error',
    exitCode: exitCodeOf('internal_error'),
    what: 'Something went wrong in souk itself.',
    why
  }
}

/** Lines for a person: what, why, what to try, and what to name when asking for help. */
export function failureLines(failure: Failure): string[] {
  return [
    `souk: ${failure.what}`,
    ...(failure.why === undefined ? [] : failure.why.split('\n').map((line) => `  ${line}`)),
    ...(failure.hint === undefined ? [] : [`Try: ${failure.hint}`]),
    ...(failure.requestId === undefined ? [] : [`Request id: ${failure.requestId}`])
  ]
}

/** One line for a script. */
export function failureJson({ code, what, why, hint, requestId }: Failure): string {
  return JSON.stringify({ error: { code, what, why, try: hint, request_id: requestId } })
}
