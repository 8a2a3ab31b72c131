import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { asSoukError, formatApiRef, limits, SoukError } from '../../../lib/index.ts'
import type { ApiRef, Clock, Souk } from '../../../lib/interface/index.ts'
import { isPayment, type Offer, offerOf } from './payment-headers.ts'

/**
 * Calls without a consumer key: an x402 client pays for each call. This node only forwards the payment messages between the client and the
 * provider. It can neither read nor create such a payment.
 */
export class Keyless {
  readonly #souk: Pick<Souk, 'call' | 'resolve'>
  /** Payment terms of providers, cached by API. Free APIs and APIs without x402 are cached as `key_missing`. */
  readonly #asked: LRUCache<string, SoukError>

  constructor({ souk, clock }: { readonly souk: Pick<Souk, 'call' | 'resolve'>; readonly clock: Clock }) {
    this.#souk = souk
    const perf = { now: () => clock.elapsed() }
    this.#asked = new LRUCache({ max: limits.OFFERS_CACHED_MAX, ttl: limits.OFFER_FRESH_MS, perf })
  }

  /**
   * Returns the payment that a request carries.
   * @throws SoukError `payment_malformed`; without a payment, `payment_required` with the provider’s terms, or `key_missing`
   */
  async paymentFor(req: IncomingMessage, api: ApiRef, signal: AbortSignal): Promise<string> {
    const payment = req.headers['payment-signature']
    if (payment === undefined) throw await this.#ask(api, signal)
    if (isPayment(payment)) return payment
    const detail = `PAYMENT-SIGNATURE must be base64 of at most ${limits.PAYMENT_CHARS_MAX} characters.`
    throw new SoukError('payment_malformed', detail)
  }

  /** Returns the provider’s x402 terms; undefined if it has none. @throws SoukError if the provider cannot be reached */
  async offerFor(api: ApiRef, signal: AbortSignal): Promise<Offer | undefined> {
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
    throw new SoukError('internal_error', 'The provider ran an unpaid call.')
  }
}

export function keyMissing(): SoukError {
  return new SoukError('key_missing', 'Send your consumer key in the header X-Consumer-Key.')
}
