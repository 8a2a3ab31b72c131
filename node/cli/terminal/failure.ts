import type { Problem } from '../../../lib/interface/index.ts'
import { exitCodeOf } from './exit-code.ts'
import { didYouMeanText } from './similar.ts'

/** The error of a failed command, for people and scripts. */
export interface Failure {
  readonly code: string
  readonly exitCode: number
  readonly what: string
  readonly why?: string | undefined
  readonly hint?: string | undefined
  readonly requestId?: string
  /** Names that are probably meant instead of an unknown one. */
  readonly similar?: readonly string[]
}

/** Hints by error code. The output shows them after `Try: `. */
const HINTS: Readonly<Record<string, string>> = {
  admin_token_invalid: 'souk status, with --profile <name> if you run several nodes',
  api_exists: 'the same command with --replace, or another --name',
  api_not_found: 'souk search, or souk api list for your own',
  api_paused: 'again later, or souk api resume <name> if it is yours',
  api_retired: 'souk search, for another one',
  backup_not_supported: 'the tool that the message names',
  call_interrupted:
    'to find out whether the API did it, before you repeat the call; with --idempotency-key a repeat is safe',
  idempotency_in_flight: 'again in a moment, with the same key',
  idempotency_mismatch: 'another --idempotency-key, as this is another call',
  insufficient_funds: 'souk wallet deposit',
  key_not_permitted: 'souk provider delegate <your peer id>, which the provider runs on the other machine',
  lookup_timeout: 'the command again, or souk peers to see the connected nodes',
  method_not_allowed: 'souk call without --method and --path',
  operation_not_found: 'souk market show <api>, to list its operations',
  overloaded: 'the command again in a moment',
  owner_unreachable: 'the command again in a moment, or souk peers to see the connected nodes',
  payment_required: 'souk doctor, to check whether this node can pay',
  price_exceeds_limit: 'a higher --max-price; for the fee of a plan, a higher --max-fee',
  quota_exceeded:
    'souk subscriptions list, to see when the next period starts; or souk subscriptions change, for another plan',
  rate_limited: 'the command again in a moment',
  request_too_large: 'a smaller body; the provider can raise the limit with: souk api register --request-bytes-max',
  settlement_pending: 'the command again in a moment; nothing is sent or paid twice',
  settlement_unavailable: 'souk doctor, to see what is missing',
  spend_cap_reached:
    'the call again after midnight UTC, or a higher --daily-cap with souk up, or souk subscriptions change',
  description_incomplete:
    'souk api register --wsdl-file, with the missing documents; or the same command with --wsdl-incomplete',
  description_too_complex: 'a description with fewer or smaller schemas; the message names the limit',
  storage_full: 'to free space on the disk of the profile; souk doctor shows how much is needed',
  store_unavailable: 'the command again when the database is available; see souk status',
  subscription_inactive: 'souk subscriptions list, to see why',
  request_expired: 'to correct the clock of this machine',
  subscription_required: 'souk market show <api>, to list its plans; then souk subscribe',
  upstream_invalid_response: 'to correct --protocol and --endpoint',
  upstream_timeout: 'the command again, or a longer --timeout-ms',
  upstream_unreachable:
    'the command again later; if the API is yours, reach its endpoint from the machine of its node, for example with curl'
}

/** Hints by the `reason` of an error, which replace those by its code. */
const HINTS_BY_REASON: ReadonlyMap<unknown, string> = new Map([
  ['connection_lost', 'to find out whether the API did it, before you repeat the call'],
  ['key_state', 'souk key list, for the state of each key'],
  ['subscribed', 'souk subscriptions list; then souk subscriptions change, or cancel'],
  ['trial_used', 'the same command with --no-trial'],
  // For example because of its certificate. Waiting does not help.
  [
    'tls',
    'curl -v on the endpoint, from the machine of the node that serves it, to see its certificate; only the provider can correct this'
  ]
])

/** Errors whose hint is about this node. They can also come from the node that serves the API. */
const OF_A_NODE = new Set(['settlement_unavailable', 'storage_full', 'store_unavailable'])
const USAGE_HINT = 'to correct the arguments; the command with --help describes them'
const AT_OWNER_HINT = 'the command again later; this is a fault of the node that serves the API'

const OURS = new Set(['SetupError', 'SoukError', 'NodeNotRunning', 'NodeSilent', 'UnknownId', 'UsageError'])

/** Codes caused by a failed fetch. The text of a fetch error does not help. */
const OF_FETCH = new Set(['node_not_running', 'node_silent'])

/** Recognizes errors of the admin client, of setup and of the command line by shape, because their classes are not loaded here. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return internal(String(error))
  if ('problem' in error) return problemFailure(error.problem as Problem)
  const code = 'code' in error ? String(error.code) : ''
  if (!OURS.has(error.name)) return internal(error.stack ?? error.message)
  const hint = 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined
  // The texts of system errors help the user of this machine. Texts of a failed fetch do not.
  const why = error.cause instanceof Error && !OF_FETCH.has(code) ? error.cause.message : undefined
  return {
    code,
    exitCode: exitCodeOf(code),
    what: error.message,
    why,
    hint
  }
}

function problemFailure(problem: Problem): Failure {
  const isAtOwner = problem.source === 'owner' && OF_A_NODE.has(problem.code)
  // The detail of `invalid_request` says what is wrong, and its title adds nothing.
  const isPlain = problem.code === 'invalid_request'
  // The schema of the admin API refused a typed value, so this is a usage error.
  const isUsage = isPlain && Array.isArray(problem['invalid'])
  const usual = isAtOwner ? AT_OWNER_HINT : isUsage ? USAGE_HINT : HINTS[problem.code]
  const hint = candidatesHint(problem) ?? HINTS_BY_REASON.get(problem['reason']) ?? usual
  return {
    code: problem.code,
    exitCode: exitCodeOf(isUsage ? 'usage' : problem.code),
    what: isPlain ? problem.detail : problem.title,
    requestId: problem.request_id,
    why: isPlain || problem.detail === problem.title ? undefined : problem.detail,
    hint
  }
}

function candidatesHint(problem: Problem): string | undefined {
  const candidates = problem['candidates']
  if (!Array.isArray(candidates)) return undefined
  const [first] = candidates as ReadonlyArray<{ readonly id?: unknown } | null>
  const id = typeof first?.id === 'string' ? first.id : undefined
  return id === undefined ? undefined : `souk call ${id}, or souk pin ${id} to bind the name`
}

function internal(why: string): Failure {
  return {
    code: 'internal_error',
    exitCode: exitCodeOf('internal_error'),
    what: 'Internal error in souk. Please report it.',
    why
  }
}

/** Lines for a person: what happened, why, what to try, and the request id for support. */
export function failureLines({ similar = [], ...failure }: Failure): string[] {
  return [
    `souk: ${failure.what}`,
    ...(failure.why === undefined ? [] : failure.why.split('\n').map((line) => `  ${line}`)),
    ...(similar.length === 0 ? [] : [didYouMeanText(similar)]),
    ...(failure.hint === undefined ? [] : [`Try: ${failure.hint}`]),
    ...(failure.requestId === undefined ? [] : [`Request id: ${failure.requestId}`])
  ]
}

/** One line of JSON for a script. */
export function failureJson({ code, what, why, hint, requestId, similar = [] }: Failure): string {
  const didYouMean = similar.length === 0 ? {} : { did_you_mean: similar }
  return JSON.stringify({ error: { code, what, why, ...didYouMean, try: hint, request_id: requestId } })
}
