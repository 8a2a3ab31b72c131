import { keccak_256 } from '@noble/hashes/sha3.js'
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types'
import { utf8 } from '../../base/bytes.ts'
import type { Clock } from '../../base/clock.ts'
import { asSoukError, type SoukError } from '../../base/errors.ts'
import { type Hex, toHex } from '../../base/hex.ts'
import { RESOURCE_URL_CHARS_MAX } from '../../base/limits/call.ts'
import type { Admission } from '../../interface/payment-scheme.ts'
import type { Address, Signer } from '../../interface/signer.ts'
import { checksummed } from '../signing/address.ts'
import { digestsOf, hashStruct, typeHash } from '../signing/typed-data.ts'

/** The x402 extension for signed offers and receipts, version 1, in its EIP-712 format. */
const OFFER_RECEIPT = 'offer-receipt'

const VERSION = 1
const OFFER = typeHash(
  'Offer(uint256 version,string resourceUrl,string scheme,string network,string asset,string payTo,string amount,uint256 validUntil)'
)
const RECEIPT = typeHash(
  'Receipt(uint256 version,string network,string resourceUrl,string payer,uint256 issuedAt,string transaction)'
)
/** The extension signs for people, not for a contract, and fixes the chain's id. */
const purposeOf = (name: string) => digestsOf({ name, version: '1', chainId: 1 })
const offerDigest = purposeOf('x402 offer')
const receiptDigest = purposeOf('x402 receipt')

export interface OfferReceiptsInit {
  /** The owner's settlement key. */
  readonly signer: Signer
  readonly clock: Clock
  readonly onError: (error: SoukError) => void
}

/** The extensions of a response, by name. Empty if the signing key is not available, or if nothing asked for them. */
export type Extensions = NonNullable<SettleResponse['extensions']>

/** Signs an owner's offers, and the receipts of calls that its clients paid for. */
export class OfferReceipts {
  readonly #init: OfferReceiptsInit

  constructor(init: OfferReceiptsInit) {
    this.#init = init
  }

  /** Signed offers for the URL at which the client asked. */
  async offers({ api, payment }: Pick<Admission, 'api' | 'payment'>, accepts: readonly PaymentRequirements[]) {
    const resourceUrl = urlOf(payment?.resourceUrl, api)
    if (resourceUrl === undefined) return {}
    return this.#signed(async () => {
      const offers = accepts.map(async (offer, acceptIndex) => {
        const { scheme, network, asset, payTo, amount, maxTimeoutSeconds } = offer
        const validUntil = this.#now() + maxTimeoutSeconds
        const payload = { version: VERSION, resourceUrl, scheme, network, asset, payTo, amount, validUntil }
        const texts = [resourceUrl, scheme, network, asset, payTo, amount].map(hashed)
        const signature = await this.#sign(offerDigest(hashStruct(OFFER, [1n, ...texts, BigInt(validUntil)])))
        return { format: 'eip712', acceptIndex, payload, signature }
      })
      return { info: { offers: await Promise.all(offers) }, schema: SCHEMA('offers', 'array') }
    })
  }

  /** The receipt of a paid call, if the payment answers a signed offer. It names no transaction, so that it can be shown. */
  async receipt({ extensions, accepted, resource }: PaymentPayload, { api }: Admission, from: Address) {
    const resourceUrl = urlOf(resource?.url, api)
    if (resourceUrl === undefined || extensions?.[OFFER_RECEIPT] === undefined) return {}
    return this.#signed(async () => {
      const { network } = accepted
      const [payer, issuedAt, transaction] = [checksummed(from), this.#now(), '']
      const payload = { version: VERSION, network, resourceUrl, payer, issuedAt, transaction }
      const [onNetwork, at, by, sent] = [network, resourceUrl, payer, transaction].map(hashed) as Hashes
      const signature = await this.#sign(
        receiptDigest(hashStruct(RECEIPT, [1n, onNetwork, at, by, BigInt(issuedAt), sent]))
      )
      const receipt = { format: 'eip712', payload, signature }
      return { info: { receipt }, schema: SCHEMA('receipt', 'object') }
    })
  }

  /** Proofs are optional: a key that is not available must not fail a paid call. */
  async #signed(sign: () => Promise<unknown>): Promise<Extensions> {
    try {
      return { [OFFER_RECEIPT]: await sign() }
    } catch (error) {
      this.#init.onError(asSoukError(error))
      return {}
    }
  }

  async #sign(digest: Uint8Array): Promise<Hex> {
    return toHex(await this.#init.signer.sign(digest))
  }

  #now(): number {
    return Math.floor(this.#init.clock.now() / 1_000)
  }
}

type Hashes = [Uint8Array, Uint8Array, Uint8Array, Uint8Array]

const hashed = (text: string): Uint8Array => keccak_256(utf8(text))

/** The URL, if it names the API. A client chooses it, so an owner signs for no other resource. */
function urlOf(text: unknown, api: string): string | undefined {
  if (typeof text !== 'string' || text.length > RESOURCE_URL_CHARS_MAX) return undefined
  const url = URL.parse(text)
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  return isWeb && url.pathname.endsWith(`/api/${api.slice(0, api.indexOf('@'))}`) ? text : undefined
}

const SCHEMA = (name: string, type: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { [name]: { type } },
  required: [name]
})
