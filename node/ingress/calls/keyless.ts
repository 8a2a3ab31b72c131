import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { asSoukError, formatApiRef, limits, SoukError } from '../../../lib/index.ts'
import { type ApiRef, type Manifest, PAYMENT_MEMBER, RESOURCE_HEADER, type Souk } from '../../../lib/interface/index.ts'
import type { RequestContext } from '../request-context.ts'
import { bazaarOf } from '../discovery/bazaar-extension.ts'
import { exampleBody } from '../discovery/example.ts'
import { PaymentAuth, type PaymentAuthInit } from './payment-auth.ts'
import { isPayment, type Offer, offerOf, resourceUrl } from './payment-headers.ts'

/** Characters of a cache entry besides its name and its terms. */
const ENTRY_CHARS = 500

export interface KeylessInit extends PaymentAuthInit {
  readonly souk: Pick<Souk, 'call' | 'resolve'>
}

/**
 * Calls without a consumer key: an x402 client pays for each call. This node only forwards the payment messages between the client and the
 * provider. It can neither read nor create such a payment.
 */
export class Keyless {
  readonly #souk: Pick<Souk, 'call' | 'resolve'>
  readonly #auth: PaymentAuth
  /** Payment terms of providers, cached by API and URL. Free APIs and APIs without x402 are cached as `key_missing`. */
  readonly #asked: LRUCache<string, SoukError>

  constructor(init: KeylessInit) {
    const { souk, clock } = init
    this.#souk = souk
    this.#auth = new PaymentAuth(init)
    const perf = { now: () => clock.elapsed() }
    this.#asked = new LRUCache({
      maxSize: limits.OFFERS_CACHED_CHARS_MAX,
      // A client chooses the URL, and a provider the terms.
      sizeCalculation: ({ members }, name) => name.length + JSON.stringify(members ?? '').length + ENTRY_CHARS,
      ttl: limits.OFFER_FRESH_MS,
      perf
    })
  }

  /**
   * Returns the payment that a request carries.
   * @throws SoukError `payment_malformed`, `payment_rejected`; without a payment, `payment_required` with the provider’s terms, or
   * `key_missing`
   */
  async paymentFor(req: IncomingMessage, api: ApiRef, signal: AbortSignal): Promise<string> {
    const payment = req.headers['payment-signature']
    if (payment === undefined) {
      const ask = () => this.#ask(api, signal, resourceUrl(req))
      const credential = await this.#credentialOf(req, api, ask)
      if (credential === undefined) throw await ask()
      return credential
    }
    if (isPayment(payment)) return payment
    const detail = `PAYMENT-SIGNATURE must be base64 of at most ${limits.PAYMENT_CHARS_MAX} characters.`
    throw new SoukError('payment_malformed', detail)
  }

  /** The headers of a 402 with terms that the HTTP authentication scheme `Payment` can meet. */
  challenge({ req, requestIdText }: RequestContext, api: ApiRef, error: SoukError): string[] {
    const offer = offerOf(error)
    return offer === undefined ? [] : this.#auth.challenge(req, formatApiRef(api), offer, requestIdText)
  }

  /** @throws SoukError `payment_malformed`; `payment_rejected` with the provider’s terms */
  async #credentialOf(req: IncomingMessage, api: ApiRef, ask: () => Promise<SoukError>): Promise<string | undefined> {
    try {
      return this.#auth.read(req, formatApiRef(api))
    } catch (thrown) {
      const { code, message } = asSoukError(thrown)
      if (code !== 'payment_rejected') throw thrown
      const offer = offerOf(await ask())
      // The provider's own text asks for a header that the client did not use.
      const members = offer && { [PAYMENT_MEMBER]: { ...offer, error: message } }
      throw new SoukError(code, message, { cause: thrown, ...(members && { members }) })
    }
  }

  /** Returns the provider’s x402 terms; undefined if it has none. @throws SoukError if the provider cannot be reached */
  async offerFor(api: ApiRef, signal: AbortSignal): Promise<Offer | undefined> {
    return offerOf(await this.#ask(api, signal))
  }

  /** @param at the URL that signed offers are for. Default: unsigned */
  async #ask(api: ApiRef, signal: AbortSignal, at = ''): Promise<SoukError> {
    const name = `${formatApiRef(api)} ${at}`
    const known = this.#asked.get(name)
    if (known !== undefined) return known
    const answer = await this.#askOwner(api, signal, at)
    if (answer.code === 'payment_required' || answer.code === 'key_missing') this.#asked.set(name, answer)
    return answer
  }

  async #askOwner(api: ApiRef, signal: AbortSignal, at: string): Promise<SoukError> {
    const { signed } = await this.#souk.resolve(api, { signal })
    if (signed.manifest.price === 0n) return keyMissing()
    try {
      const headers = at === '' ? [] : [[RESOURCE_HEADER, at] as const]
      await this.#souk.call({ api, headers, body: {}, payment: '', signal })
    } catch (thrown) {
      const error = asSoukError(thrown)
      const takesNone = error.code === 'payment_required' && offerOf(error) === undefined
      return takesNone ? keyMissing() : discoverable(error, signed.manifest)
    }
    throw new SoukError('internal_error', 'The provider ran an unpaid call.')
  }
}

export function keyMissing(): SoukError {
  return new SoukError('key_missing', 'Send your consumer key in the header X-Consumer-Key.')
}

/** Payment terms that tell x402's bazaar how to call the API. Payments return them, so a long example is left out. */
function discoverable(error: SoukError, manifest: Manifest): SoukError {
  const offer = offerOf(error)
  if (offer === undefined) return error
  const example = exampleBody(manifest)
  const isShort = JSON.stringify(example).length <= limits.BAZAAR_EXAMPLE_CHARS_MAX
  const extensions = { ...offer.extensions, bazaar: bazaarOf(isShort ? example : {}) }
  const { code, message, source, cause } = error
  return new SoukError(code, message, { source, cause, members: { [PAYMENT_MEMBER]: { ...offer, extensions } } })
}
