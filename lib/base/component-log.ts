import type { ComponentLogger, Logger } from '@libp2p/interface'
import { isSoukError } from './errors.ts'
import { LOGGED_REASON_CHARS_MAX } from './limits.ts'

/** Each log of Souk, and what it tells. `docs/reference/logs.md` is made from this table. */
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

/** The log of one component, by a name of the table. */
export function logOf(logger: ComponentLogger, name: LogName): Logger {
  return logger.forComponent(name)
}

function silent(): void {}

/** The log of a component that was given none. */
export const SILENT_LOG: Logger = Object.assign(silent, {
  error: silent,
  trace: silent,
  enabled: false,
  newScope: () => SILENT_LOG
})

/** A duration as log lines have it. */
export const inMs = (ms: number): string => `${ms.toFixed(1)} ms`

/**
 * An error in one line for a log: its code, its safe text, and the codes of its causes. Texts of causes are left out: they may quote a
 * URL, and with it the key of an RPC endpoint.
 */
export function reasonOf(error: unknown): string {
  const codes = [...codesOf(error)]
  const text = isSoukError(error) ? ` - ${error.message}` : ''
  const line = `${codes[0] ?? 'unknown'}${text}${codes.length > 1 ? ` (${codes.slice(1).join(', ')})` : ''}`
  return line.replaceAll(/\p{Cc}/gu, ' ').slice(0, LOGGED_REASON_CHARS_MAX)
}

const CAUSES_MAX = 4

/** Of the error and its causes, from the outside in. */
function codesOf(error: unknown): Set<string> {
  const codes = new Set<string>()
  const open = [error]
  for (let seen = 0; seen < CAUSES_MAX && open.length > 0; seen++) {
    const next = open.shift()
    if (!(next instanceof Error)) continue
    const { code } = next as { code?: unknown }
    codes.add(typeof code === 'string' || typeof code === 'number' ? String(code) : next.name)
    if (next instanceof AggregateError) open.push(...(next.errors as unknown[]).slice(0, CAUSES_MAX))
    if (next.cause !== undefined) open.push(next.cause)
  }
  return codes
}
