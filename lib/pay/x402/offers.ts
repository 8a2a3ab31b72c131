import type { PaymentRequirements } from '@x402/core/types'
import { type ErrorCode, SoukError } from '../../base/errors.ts'
import { PAYMENT_VALID_S } from '../../base/limits.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChainParameters } from '../../interface/network.ts'
import type { Address } from '../../interface/signer.ts'
import { type Admission, PAYMENT_MEMBER } from '../../interface/till.ts'
import { checksummed } from '../signing/address.ts'
import type { Terms } from '../channel/pay-messages.ts'
import { PAYMENT_IDENTIFIER } from './payment-text.ts'

export interface OffersInit {
  readonly parameters: ChainParameters
  readonly splitterOf: (payout: Address) => Address
  /** What this owner asks of channels. */
  readonly terms: Terms
  /** The least price that is taken by `exact`: each such call is a transaction. */
  readonly exactMin: Atoms
}

/** Why a payment is not taken, in the words that x402's clients know. */
export interface Refusal {
  readonly code: ErrorCode
  /** Error of x402. */
  readonly reason: string
  readonly detail: string
  /** For the offer of `batch-settlement`: what the channel stands at. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Another owner of the API may take it. */
  readonly notAccepted?: boolean
}

/** What is to be paid, and for whom. */
export type Asked = Pick<Admission, 'price' | 'payout'>

/** What an owner asks for a call of a client without a node, as x402 writes it. */
export class Offers {
  readonly #init: OffersInit
  /** CAIP-2. */
  readonly network: `${string}:${string}`

  constructor(init: OffersInit) {
    this.#init = init
    this.network = networkOf(init.parameters.chainId)
  }

  /** Where the money of a listing goes. @throws SoukError `payment_required` where nobody is paid */
  payTo({ payout, price }: Asked): Address {
    if (payout !== undefined && price > 0n) return this.#init.splitterOf(payout)
    throw new SoukError('payment_required', 'This API is called with a key only.', { source: 'owner' })
  }

  takesExact({ price }: Asked): boolean {
    return price >= this.#init.exactMin
  }

  /** Nothing was run. It says how the call can be paid. */
  refuse(admission: Asked, { code, reason, detail, extra, notAccepted = false }: Refusal): SoukError {
    const accepts = [this.#batch(admission, extra), ...(this.takesExact(admission) ? [this.#exact(admission)] : [])]
    const members = { [PAYMENT_MEMBER]: { error: reason, accepts, extensions: EXTENSIONS } }
    return new SoukError(code, detail, { source: 'owner', members, notAccepted })
  }

  ask(admission: Asked): SoukError {
    return this.refuse(admission, {
      code: 'payment_required',
      reason: 'PAYMENT-SIGNATURE header is required',
      detail: 'Pay for this call by x402, or send a consumer key in the header X-Consumer-Key.'
    })
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
    // Common clients refuse addresses without the checksum.
    payTo: checksummed(payTo),
    maxTimeoutSeconds: PAYMENT_VALID_S,
    extra: { name: usdc.name, version: usdc.version }
  }
}

/** CAIP-2. */
export const networkOf = (chainId: number): `${string}:${string}` => `eip155:${chainId}`

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
