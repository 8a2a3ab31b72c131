import type { PaymentRequirements } from '@x402/core/types'
import { type ErrorCode, SoukError } from '../../base/errors.ts'
import { PAYMENT_VALID_S } from '../../base/limits/pay.ts'
import { type Atoms, USDC_DECIMALS } from '../../base/money.ts'
import type { ChainParameters } from '../../interface/network.ts'
import type { Address } from '../../interface/signer.ts'
import { type Admission, PAYMENT_MEMBER } from '../../interface/payment-scheme.ts'
import { checksummed } from '../signing/address.ts'
import type { Terms } from '../channel/pay-messages.ts'
import type { OfferReceipts } from './offer-receipt.ts'
import { PAYMENT_IDENTIFIER } from './payment-text.ts'

export interface OffersInit {
  readonly parameters: ChainParameters
  readonly splitterOf: (payout: Address) => Address
  /** This owner's conditions for channels. */
  readonly terms: Terms
  /** The minimum price for `exact`, because each such call is a transaction. */
  readonly exactMin: Atoms
  readonly offerReceipts: Pick<OfferReceipts, 'offers'>
}

/** Why a payment is rejected, in the terms of x402 clients. */
export interface Refusal {
  readonly code: ErrorCode
  /** The x402 error. */
  readonly reason: string
  readonly detail: string
  /** The channel's state, for the `batch-settlement` offer. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** True if another owner of the API may accept it. */
  readonly notAccepted?: boolean
}

/** The price and the payee of a call. */
export type Asked = Pick<Admission, 'price' | 'payout'>

/** An owner's payment offers for clients without a node, in x402 form. */
export class Offers {
  readonly #init: OffersInit
  /** The CAIP-2 id. */
  readonly network: `${string}:${string}`

  constructor(init: OffersInit) {
    this.#init = init
    this.network = networkOf(init.parameters.chainId)
  }

  /** The account that a listing's money goes to. @throws SoukError `payment_required` if the listing has no payee */
  payTo({ payout, price }: Asked): Address {
    if (payout !== undefined && price > 0n) return this.#init.splitterOf(payout)
    throw new SoukError('payment_required', 'This API requires a consumer key in the header X-Consumer-Key.', {
      source: 'owner'
    })
  }

  takesExact({ price }: Asked): boolean {
    return price >= this.#init.exactMin
  }

  /** An error before the call runs. It lists the ways to pay. */
  refuse(admission: Asked, refusal: Refusal): SoukError {
    return refusalWith(refusal, this.#all(admission, refusal.extra), EXTENSIONS)
  }

  /** The error for a call that asks how to pay. Its offers are signed. */
  async ask(admission: Admission): Promise<SoukError> {
    const accepts = this.#all(admission)
    const signed = await this.#init.offerReceipts.offers(admission, accepts)
    return refusalWith(UNPAID, accepts, { ...EXTENSIONS, ...signed })
  }

  #all(admission: Asked, extra?: Refusal['extra']): PaymentRequirements[] {
    // Some clients take the first offer as `exact`, whatever its scheme.
    return [...(this.takesExact(admission) ? [this.#exact(admission)] : []), this.#batch(admission, extra)]
  }

  #exact(admission: Asked): PaymentRequirements {
    return exactOffer(this.#init.parameters, this.payTo(admission), admission.price)
  }

  #batch(admission: Asked, extra: Refusal['extra'] = {}): PaymentRequirements {
    const { settlement, withdrawDelay, depositMin } = this.#init.terms
    const exact = this.#exact(admission)
    const minDeposit = depositMin > admission.price ? depositMin : admission.price
    const terms = { receiverAuthorizer: checksummed(settlement), withdrawDelay, minDeposit: minDeposit.toString() }
    return { ...exact, scheme: 'batch-settlement', extra: { ...exact.extra, ...terms, ...extra } }
  }
}

export function exactOffer({ chainId, usdc }: ChainParameters, payTo: Address, amount: Atoms): PaymentRequirements {
  return {
    scheme: 'exact',
    network: networkOf(chainId),
    asset: checksummed(usdc.address),
    amount: amount.toString(),
    // Common clients reject addresses without the checksum.
    payTo: checksummed(payTo),
    maxTimeoutSeconds: PAYMENT_VALID_S,
    // Common clients expect the decimals. The scheme does not define them.
    extra: { name: usdc.name, version: usdc.version, decimals: USDC_DECIMALS }
  }
}

/** The CAIP-2 id. */
export const networkOf = (chainId: number): `${string}:${string}` => `eip155:${chainId}`

const UNPAID: Refusal = {
  code: 'payment_required',
  reason: 'PAYMENT-SIGNATURE header is required',
  detail: 'Pay for this call by x402, or send a consumer key in the header X-Consumer-Key.'
}

function refusalWith(
  { code, reason, detail, notAccepted = false }: Refusal,
  accepts: readonly PaymentRequirements[],
  extensions: Readonly<Record<string, unknown>>
): SoukError {
  const members = { [PAYMENT_MEMBER]: { error: reason, accepts, extensions } }
  return new SoukError(code, detail, { source: 'owner', members, notAccepted })
}

const EXTENSIONS = {
  [PAYMENT_IDENTIFIER]: {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' }
      },
      required: ['required']
    }
  }
}
