import { type Clock, deadline } from '../base/clock.ts'
import { collect } from '../base/collect.ts'
import { SoukError } from '../base/errors.ts'
import { ignore } from '../base/ignore.ts'
import { SUBSCRIPTION_BODY_BYTES_MAX } from '../base/limits/plans.ts'
import { within } from '../base/within.ts'
import type { CallReply } from '../interface/souk.ts'

/**
 * The reply of an owner's plan service, with its whole body. Changes of a subscription wait for each other, so an owner that never
 * ends its response would block all later ones.
 * @throws SoukError `upstream_timeout` where the rest takes longer than `timeoutMs`, `response_too_large`
 */
export async function wholeReply(reply: CallReply, clock: Clock, timeoutMs: number): Promise<CallReply> {
  const { body } = reply
  if (body instanceof Uint8Array) return reply
  const late = () => new SoukError('upstream_timeout', 'The owner did not complete its response.', { source: 'owner' })
  const tooLarge = () => new SoukError('response_too_large', undefined, { source: 'owner' })
  const limit = deadline(clock, timeoutMs, late)
  const chunks = body[Symbol.asyncIterator]()
  const reading = collect({ [Symbol.asyncIterator]: () => chunks }, SUBSCRIPTION_BODY_BYTES_MAX, tooLarge)
  try {
    return { ...reply, body: await within(reading, limit.signal) }
  } catch (error) {
    chunks.return?.().catch(ignore)
    throw error
  } finally {
    limit.clear()
  }
}
