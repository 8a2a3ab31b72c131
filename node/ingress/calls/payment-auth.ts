import type { IncomingMessage } from 'node:http'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { equalInConstantTime, limits, SoukError, toHex, utf8 } from '../../../lib/index.ts'
import type { Clock } from '../../../lib/interface/index.ts'
import type { Keys } from '../../keys/keys.ts'
import { publicUrl } from '../public-url.ts'
import { type Offer, plainObject } from './payment-headers.ts'

export interface PaymentAuthInit {
  readonly keys: Pick<Keys, 'mac'>
  readonly clock: Clock
}

/** The members of a challenge that its id covers, in the order of the draft. All are texts, as on the wire. */
const BOUND = ['realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'] as const
type Challenge = Partial<Record<(typeof BOUND)[number] | 'id', string>>
const TEXT = /^[\x20-\x7e]*$/

/**
 * The HTTP authentication scheme `Payment` (draft-httpauth-payment-01) with method `evm` and intent `charge`, beside x402: the challenge
 * asks for the EIP-3009 transfer of an `exact` offer, and the credential becomes an `exact` payment, which the provider checks. A credential
 * stays valid after its challenge expires, because it may repeat a paid call. The transfer itself has expired then.
 */
export class PaymentAuth {
  readonly #init: PaymentAuthInit

  constructor(init: PaymentAuthInit) {
    this.#init = init
  }

  /** The headers of a 402 for an API. None if its offers have no `exact`. */
  challenge(req: Pick<IncomingMessage, 'headers' | 'socket'>, api: string, { accepts }: Offer, id: string): string[] {
    const request = requestOf(accepts)
    if (request === undefined) return []
    const challenge = {
      realm: realmOf(req),
      method: 'evm',
      intent: 'charge',
      request,
      expires: new Date(this.#init.clock.now() + limits.PAYMENT_VALID_S * 1_000).toISOString(),
      // Each challenge pays once, and only for its API.
      opaque: encoded({ api, id })
    }
    const parameters = Object.entries({ id: this.#idOf(challenge), ...challenge })
    const value = parameters.map(([name, text]) => `${name}="${text}"`).join(', ')
    return ['WWW-Authenticate', `Payment ${value}`]
  }

  /**
   * The payment of a request as a value of `PAYMENT-SIGNATURE`. Undefined if it has no credential of this scheme.
   * @throws SoukError `payment_malformed`, `payment_rejected` without offers
   */
  read({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>, api: string): string | undefined {
    const { authorization = '' } = headers
    if (!isPaymentScheme(authorization)) return undefined
    const text = /^Payment +([\w-]+)={0,2}$/i.exec(authorization)?.[1] ?? ''
    if (text.length > limits.PAYMENT_CHARS_MAX) throw malformed('it is too long')
    const { challenge, payload } = decoded(text)
    const must = (holds: boolean, otherwise: string): void => {
      if (!holds) throw new SoukError('payment_rejected', `The payment is rejected: ${otherwise}.`)
    }
    const asked = textsOf(challenge)
    const { id = '', realm = '', request = '', opaque = '' } = asked
    must(equalInConstantTime(utf8(id), utf8(this.#idOf(asked))), 'its challenge is not of this node, or was changed')
    must(
      realm === realmOf({ headers, socket }) && decoded(opaque)['api'] === api,
      'its challenge is for another resource'
    )
    const { type, nonce, signature, ...authorized } = plainObject(payload)
    if (type !== 'authorization') throw malformed('its payload is no signed EIP-3009 authorization')
    must(nonce === toHex(keccak_256(utf8(id + realm))), 'its nonce is not that of the challenge')
    const { amount, currency, recipient, methodDetails } = decoded(request)
    const accepted = {
      scheme: 'exact',
      network: `eip155:${String(plainObject(methodDetails)['chainId'])}`,
      asset: currency,
      amount,
      payTo: recipient,
      maxTimeoutSeconds: limits.PAYMENT_VALID_S,
      extra: {}
    }
    const payment = { x402Version: 2, accepted, payload: { authorization: { ...authorized, nonce }, signature } }
    return Buffer.from(JSON.stringify(payment)).toString('base64')
  }

  #idOf(challenge: Challenge): string {
    return this.#init.keys.mac(`payment-auth ${BOUND.map((name) => challenge[name] ?? '').join('|')}`)
  }
}

/** The `Payment-Receipt` header of a response to a credential, from the payment’s result. Providers are untrusted: none for a malformed one. */
export function paymentReceipt({ headers }: Pick<IncomingMessage, 'headers'>, result: string, now: number): string[] {
  if (headers['payment-signature'] !== undefined) return []
  if (!isPaymentScheme(headers.authorization)) return []
  const { success, transaction } = jsonOf(Buffer.from(result, 'base64').toString()) ?? {}
  if (success !== true || typeof transaction !== 'string') return []
  const receipt = { method: 'evm', reference: transaction, status: 'success', timestamp: new Date(now).toISOString() }
  return ['Payment-Receipt', encoded(receipt)]
}

const isPaymentScheme = (authorization: string | undefined): boolean => /^Payment /i.test(authorization ?? '')

/** The JSON of a charge, with sorted members (RFC 8785). Providers are untrusted: undefined for a malformed offer. */
function requestOf(accepts: readonly unknown[]): string | undefined {
  const exact = accepts.map(plainObject).find(({ scheme }) => scheme === 'exact')
  if (exact === undefined) return undefined
  const { amount, asset: currency, payTo: recipient, network, extra } = exact
  const chainId = /^eip155:(\d{1,15})$/.exec(String(network))?.[1]
  const areAddresses = [currency, recipient].every((each) => /^0x[0-9a-fA-F]{40}$/.test(String(each)))
  if (chainId === undefined || !areAddresses || !/^\d{1,78}$/.test(String(amount))) return undefined
  const { decimals } = plainObject(extra)
  const precision = typeof decimals === 'number' ? { decimals } : {}
  const methodDetails = { chainId: Number(chainId), credentialTypes: ['authorization'], ...precision }
  return encoded({ amount, currency, methodDetails, recipient })
}

const realmOf = (req: Pick<IncomingMessage, 'headers' | 'socket'>): string => new URL(publicUrl(req)).host

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const decoded = (text: string) => parsed(Buffer.from(text, 'base64url').toString())

/** @throws SoukError `payment_malformed` if the text is no JSON */
function parsed(text: string): Record<string, unknown> {
  const members = jsonOf(text)
  if (members === undefined) throw malformed('it is not base64url of JSON')
  return members
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    return plainObject(JSON.parse(text))
  } catch {
    return undefined
  }
}

function textsOf(challenge: unknown): Challenge {
  const members = Object.entries(plainObject(challenge))
  if (!members.every(([, text]) => typeof text === 'string' && TEXT.test(text))) {
    throw malformed('a member of its challenge is no text')
  }
  return Object.fromEntries(members) as Challenge
}

const malformed = (why: string) => new SoukError('payment_malformed', `The payment is malformed: ${why}.`)
