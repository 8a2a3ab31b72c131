import type { Logger } from '@libp2p/interface'
import { inMs, reasonOf } from '../base/component-log.ts'
import { formatUsdc } from '../base/money.ts'
import { formatRequestId } from '../base/request-id.ts'
import type { CallResponse, CallHandler, IncomingCall } from '../interface/call.ts'

/** Wraps a handler to log each call and its outcome while the log is enabled. */
export function loggedCalls(handler: CallHandler, log: Logger): CallHandler {
  return (call, signal) => (log.enabled ? loggedCall(handler, log, call, signal) : handler(call, signal))
}

async function loggedCall(
  handler: CallHandler,
  log: Logger,
  call: IncomingCall,
  signal: AbortSignal
): Promise<CallResponse> {
  const id = formatRequestId(call.requestId)
  log.trace('%s %s of %s arrives, %s left%s', id, call.api, call.peer, inMs(call.timeoutMs), kindOf(call))
  try {
    const answer = await handler(call, signal)
    const { status, charged, ownerMs, upstreamMs } = answer
    const replayed = answer.replayed === true ? ', from the books' : ''
    const body = answer.body instanceof Uint8Array ? `${answer.body.length} bytes` : 'a stream'
    log(
      `%s %s of %s: ${status}, ${body}, charged ${formatUsdc(charged)} USDC, API ${inMs(upstreamMs)}, node ${inMs(ownerMs)}${replayed}`,
      id,
      call.api,
      call.peer
    )
    return answer
  } catch (error) {
    log('%s %s of %s fails: %s', id, call.api, call.peer, reasonOf(error))
    throw error
  }
}

/** The properties that decide how a call is handled, without values. */
function kindOf({ subscription, service, idempotencyKey, resentFromEpoch, payment }: IncomingCall): string {
  const kinds = [
    service !== undefined && 'a change of a subscription',
    subscription !== undefined && 'under a subscription',
    idempotencyKey !== undefined && 'with an idempotency key',
    payment !== undefined && 'with a payment of its own',
    resentFromEpoch !== undefined && 'sent again'
  ].filter((kind) => kind !== false)
  return kinds.map((kind) => `, ${kind}`).join('')
}
