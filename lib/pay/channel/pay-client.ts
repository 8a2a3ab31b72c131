import { type Clock, deadline } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { PAY_EXCHANGE_MS, PAY_MESSAGE_BYTES_MAX } from '../../base/limits/pay.ts'
import type { Link } from '../../interface/link.ts'
import { decodePayReply, encodePayRequest, PAY_PROTOCOL, type PayReply, type PayRequest } from './pay-messages.ts'

/**
 * Sends a channel request to an owner.
 * @throws SoukError the owner's refusal with source `owner`; `settlement_pending` if the owner does not respond in time;
 * `owner_unreachable`; `payment_malformed`; the signal's reason when it aborts
 */
export type PayClient = (
  owner: string,
  request: PayRequest,
  signal?: AbortSignal
) => Promise<Exclude<PayReply, { kind: 'refusal' }>>

export function payClient({
  link,
  clock
}: {
  readonly link: Pick<Link, 'exchange'>
  readonly clock: Clock
}): PayClient {
  const late = () =>
    new SoukError('settlement_pending', 'The owner did not respond about the channel in time. Try again later.')
  return async (owner, request, signal) => {
    const limit = deadline(clock, PAY_EXCHANGE_MS, late, signal)
    // This deadline fires before the link's own time-out, because its error states the reason.
    const timeoutMs = 2 * PAY_EXCHANGE_MS
    const options = { responseBytesMax: PAY_MESSAGE_BYTES_MAX, signal: limit.signal, timeoutMs }
    try {
      const peer = { id: owner, addresses: [] }
      const reply = decodePayReply(await link.exchange(peer, PAY_PROTOCOL, encodePayRequest(request), options))
      if (reply.kind !== 'refusal') return reply
      const { code, detail, retryAfterMs } = reply
      throw new SoukError(code, detail, { source: 'owner', retryAfterMs })
    } finally {
      limit.clear()
    }
  }
}

export function unreadable(): SoukError {
  return new SoukError('payment_malformed', 'The owner returned the wrong type of response about the channel.')
}
