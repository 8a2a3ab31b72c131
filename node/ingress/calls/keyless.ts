import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { asSoukError, formatApiRef, limits, SoukError } from '../../../lib/index.ts'
import type { ApiRef, Clock, Souk } from '../../../lib/interface/index.ts'
import { isPayment, offerOf } from './payment-headers.ts'

/**
 * Calls without a consumer key: an x402 client pays for each by itself. This node only carries what the client and the API's
 * owner say to each other; it can neither read nor make such a payment.
 */
export class Keyless {
  readonly #souk: Pick<Souk, 'call' | 'resolve'>
  /** What owners ask, by API; a free API and one that takes no such payments have nothing to ask. */
  readonly #asked: LRUCache<string, SoukError>

  constructor({ souk, clock }: { readonly souk: Pick<Souk, 'call' | 'resolve'>; readonly clock: Clock }) {
    this.#souk = souk
    const perf = { now: () => clock.elapsed() }
    this.#asked = new LRUCache({ max: limits.OFFERS_CACHED_MAX, ttl: limits.OFFER_FRESH_MS, perf })
  }

  /**
   * The payment that a request comes with.
   * @throws SoukError `payment_malformed`; without one, `payment_required` with what the owner asks, or `key_missing`
   */
  async paymentFor(req: IncomingMessage, api: ApiRef, signal: AbortSignal): Promise<string> {
    const payment = req.headers['payment-signature']
    if (payment === undefined) throw await this.#ask(api, signal)
    if (isPayment(payment)) return payment
    const detail = `PAYMENT-SIGNATURE is base64 of at most ${limits.PAYMENT_CHARS_MAX} characters.`
    throw new SoukError('payment_malformed', detail)
  }

  /** What an API's owner asks of clients of x402; undefined where it asks nothing. @throws SoukError where it cannot be asked */
  async offerFor(api: ApiRef, signal: AbortSignal): Promise<{ readonly accepts: readonly unknown[] } | undefined> {
    return offerOf(await this.#ask(api, signal))
  }

  async #ask(api: ApiRef, signal: AbortSignal): Promise<SoukError> {
    const name = formatApiRef(api)
    const known = this.#asked.get(name)
    if (known !== undefined) return known
    const answer = await this.#askOwner(api, signal)
    if (answer.code === 'payment_required' || answer.code === 'key_missing') this.#asked.set(name, answer)
    return answer
  }

  async #askOwner(api: ApiRef, signal: AbortSignal): Promise<SoukError> {
    const { signed } = await this.#souk.resolve(api, { signal })
    if (signed.manifest.price === 0n) return keyMissing()
    try {
      await this.#souk.call({ api, body: {}, payment: '', signal })
    } catch (thrown) {
      const error = asSoukError(thrown)
      const takesNone = error.code === 'payment_required' && offerOf(error) === undefined
      return takesNone ? keyMissing() : error
    }
    throw new SoukError('internal_error', 'An owner ran a call that was not paid for.')
  }
}

export function keyMissing(): SoukError {
  return new SoukError('key_missing', 'Send your consumer key in the header X-Consumer-Key.')
}
