import type { ComponentLogger, Logger } from '@libp2p/interface'
import { isSoukError } from './errors.ts'
import { LOGGED_REASON_CHARS_MAX } from './limits/process.ts'

/** Each log of Souk and its contents. `docs/reference/logs.md` is generated from this table. */
export const LOGS = {
  'souk:admin': 'Requests to the admin API: route, status, duration.',
  'souk:announce': 'Publishing listings on the DHT and by gossip: peers asked, peers that stored the record.',
  'souk:call':
    'Calls made from here: the owner chosen, each attempt and its result, calls sent again after a broken link.',
  'souk:dht': 'The DHT itself, as `@libp2p/kad-dht` logs it: queries peer by peer, the routing table.',
  'souk:events': 'Webhook deliveries: attempt, result, next attempt.',
  'souk:ingress': 'HTTP requests of consumers: route, status, duration; requests shed under load.',
  'souk:link': 'Connections for calls: dialled, accepted, closed and why; requests between nodes; joining the network.',
  'souk:owner': 'Calls served here: admitted or refused and why, the API’s response, durations, what was charged.',
  'souk:pay': 'Payments of calls: vouchers signed and accepted, deposits, refusals.',
  'souk:plans': 'Subscriptions sold here: changes, quotas used up.',
  'souk:resolve': 'Finding an API: cached or looked up, DHT queries, candidates, nodes that did not respond.',
  'souk:settle': 'Transactions: planned, sent, sent again for a higher fee, mined, final, refused.',
  'souk:store': 'Slow and failed commits, lost and restored database connections, deleted old rows.'
} as const

export type LogName = keyof typeof LOGS

/** The log of one component, by its name in the table. */
export function logOf(logger: ComponentLogger, name: LogName): Logger {
  return logger.forComponent(name)
}

function silent(): void {}

/** The log of a component without a logger. */
export const SILENT_LOG: Logger = Object.assign(silent, {
  error: silent,
  trace: silent,
  enabled: false,
  newScope: () => SILENT_LOG
})

/** A duration in the form of log lines. */
export const inMs = (ms: number): string => `${ms.toFixed(1)} ms`

/**
 * An error as one log line: its code, its safe text, and the codes of its causes. Texts of causes are left out, because
 * they may contain a URL with an RPC key.
 */
export function reasonOf(error: unknown): string {
  const codes = [...codesOf(error)]
  const text = isSoukError(error) ? ` - ${error.message}` : ''
  const line = `${codes[0] ?? 'unknown'}${text}${codes.length > 1 ? ` (${codes.slice(1).join(', ')})` : ''}`
  return line.replaceAll(/\p{Cc}/gu, ' ').slice(0, LOGGED_REASON_CHARS_MAX)
}

const CAUSES_MAX = 4

/** Codes of the error and its causes, outermost first. */
function codesOf(error: unknown): Set<string> {
  const codes = new Set<string>()
  const open = [error]
  for (let seen = 0; seen < CAUSES_MAX && open.length > 0; seen++) {
    const next = open.shift()
    if (!(next instanceof Error)) continue
    const { code } = next as { code?: unknown }
    // The number of a `DOMException` says less than its name.
    const isCode = typeof code === 'string' || (typeof code === 'number' && !(next instanceof DOMException))
    codes.add(isCode ? String(code) : next.name)
    if (next instanceof AggregateError) open.push(...(next.errors as unknown[]).slice(0, CAUSES_MAX))
    if (next.cause !== undefined) open.push(next.cause)
  }
  return codes
}
