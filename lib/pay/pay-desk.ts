import { type Clock, deadline } from '../base/clock.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import {
  CHANNELS_MAX,
  CHANNELS_PER_PEER_MAX,
  DEPOSIT_MARGIN_MS,
  DEPOSIT_WAIT_MS,
  PAY_MESSAGE_BYTES_MAX
} from '../base/limits.ts'
import { within } from '../base/within.ts'
import type { Chain } from '../interface/chain.ts'
import type { ChannelId } from '../interface/channel.ts'
import type { Link } from '../interface/link.ts'
import type { ChannelWatch, Redeemer } from '../interface/redeem.ts'
import type { Address } from '../interface/signer.ts'
import { CEILING_MAX } from './authorization.ts'
import { checkChannel } from './check-channel.ts'
import type { PayeeChannel } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'
import { decodePayRequest, type DepositRequest, encodePayReply, type PayReply, type Terms } from './pay-messages.ts'
import type { RefundDesk } from './refund-desk.ts'
import { depositNonce } from './settlement-calls.ts'
import type { SettlementDomain } from './settlement-domain.ts'
import { signerOf } from './signature.ts'
import type { TokenDomain } from './token-domain.ts'

export const PAY_PROTOCOL = '/souk/pay/1.0.0'

export interface PayDeskInit {
  readonly terms: Terms
  readonly chain: Pick<Chain, 'parameters' | 'authorizationUsed'>
  readonly redeemer: Pick<Redeemer, 'checkGas' | 'deposit'>
  readonly watch: Pick<ChannelWatch, 'refresh'>
  readonly channels: PayeeChannels
  readonly refunds: Pick<RefundDesk, 'close'>
  readonly domain: SettlementDomain
  readonly token: TokenDomain
  readonly clock: Clock
  readonly splitterOf: (payout: Address) => Address
  readonly payouts: () => Iterable<Address>
}

/** Answers payers: what an owner asks of channels, deposits to bring in, what a channel stands at, and its end. */
export class PayDesk {
  readonly #init: PayDeskInit
  /** Peers whose deposit is on its way: each costs transactions and look-ups, so a peer has one at a time. */
  readonly #busy = new Set<string>()

  constructor(init: PayDeskInit) {
    this.#init = init
  }

  serve(link: Pick<Link, 'serve'>): void {
    const answer = async (bytes: Uint8Array, peer: string) => encodePayReply(await this.#answer(bytes, peer))
    link.serve(PAY_PROTOCOL, answer, { requestBytesMax: PAY_MESSAGE_BYTES_MAX })
  }

  async #answer(bytes: Uint8Array, peer: string): Promise<PayReply> {
    try {
      const request = decodePayRequest(bytes)
      if (request.kind === 'terms') return { kind: 'terms', terms: this.#init.terms }
      if (request.kind === 'state') return stateOf(this.#own(request.channelId, peer))
      if (request.kind === 'close') return stateOf(await this.#close(request.channelId, peer))
      return stateOf(await this.#one(peer, () => this.#deposit(request.deposit, peer)))
    } catch (thrown) {
      const { code, message } = asSoukError(thrown)
      return { kind: 'refusal', code, detail: message }
    }
  }

  #own(channelId: ChannelId, peer: string): PayeeChannel {
    const channel = this.#init.channels.get(channelId)
    if (channel === undefined || channel.info.peer !== peer) {
      throw new SoukError('payment_required', 'The owner does not know the channel.')
    }
    return channel
  }

  /** Asked again, it hears of the same refund. */
  async #close(channelId: ChannelId, peer: string): Promise<PayeeChannel> {
    const { refunds, clock } = this.#init
    const channel = this.#own(channelId, peer)
    if (this.#busy.has(peer)) throw new SoukError('overloaded', 'A deposit of this node is on its way.')
    const pending = () => new SoukError('settlement_pending', 'The channel is being closed; ask again for it.')
    const limit = deadline(clock, DEPOSIT_WAIT_MS, pending)
    try {
      await within(refunds.close(channel), limit.signal)
    } finally {
      limit.clear()
    }
    return channel
  }

  async #one<T>(peer: string, task: () => Promise<T>): Promise<T> {
    if (this.#busy.has(peer)) throw new SoukError('overloaded', 'A deposit of this node is already on its way.')
    this.#busy.add(peer)
    try {
      return await task()
    } finally {
      this.#busy.delete(peer)
    }
  }

  /** Brings a deposit in; without an amount only makes a channel known that is on chain already. */
  async #deposit(request: DepositRequest, peer: string): Promise<PayeeChannel> {
    const { terms, chain, channels, domain, splitterOf, payouts, watch } = this.#init
    const { config, counter, amount } = request
    const receivers = new Set([...payouts()].map(splitterOf))
    checkChannel(config, peer, counter, { terms, token: chain.parameters.usdc.address, receivers })
    const channelId = domain.channelId(config)
    if (amount > 0n) this.#checkAuthorization(request, channelId)
    const known = channels.get(channelId)
    if (known?.isLeft === true) throw new SoukError('payment_rejected', 'The channel is closed, or about to be.')
    if (known === undefined) this.#checkRoom(peer)
    const channel = known ?? (await channels.add({ channelId, config, peer }))
    try {
      if (amount > 0n) await this.#submit(channelId, request)
      await watch.refresh([channelId])
    } finally {
      // Made known for nothing: a refused deposit leaves no trace.
      if (known === undefined && channels.shownAt(channelId) <= 0n) await channels.remove(channelId)
    }
    if (channels.get(channelId) !== channel) throw new SoukError('payment_rejected', 'There is nothing in the channel.')
    return channel
  }

  /** @throws SoukError `payment_rejected` */
  #checkAuthorization(
    { config, amount, validAfter, validBefore, salt, signature }: DepositRequest,
    id: ChannelId
  ): void {
    const { terms, token, chain, clock } = this.#init
    const must = (holds: boolean, otherwise: string): void => {
      if (!holds) throw new SoukError('payment_rejected', `The deposit is refused: ${otherwise}.`)
    }
    must(amount >= terms.depositMin && amount <= CEILING_MAX, `it is under ${terms.depositMin} atoms, or no amount`)
    must(validAfter * 1_000 <= clock.now(), 'it is not valid yet')
    must(validBefore * 1_000 >= clock.now() + DEPOSIT_MARGIN_MS, 'it is not valid for long enough')
    const authorization = {
      from: config.payer,
      to: chain.parameters.collector.address,
      value: amount,
      validAfter,
      validBefore,
      nonce: depositNonce(id, salt)
    }
    must(signerOf(token.receive(authorization), signature) === config.payer, 'it is not signed by the payer')
  }

  /** @throws SoukError `overloaded`, `settlement_unavailable` */
  #checkRoom(peer: string): void {
    const { channels, redeemer } = this.#init
    if (channels.size >= CHANNELS_MAX || channels.countOf(peer) >= CHANNELS_PER_PEER_MAX) {
      throw new SoukError('overloaded', 'The owner takes no more channels of this node.')
    }
    redeemer.checkGas()
  }

  /** Asked again, also after a restart, it hears of the same transaction. */
  async #submit(channelId: ChannelId, { config, ...deposit }: DepositRequest): Promise<void> {
    const { redeemer, chain, clock } = this.#init
    // What is on chain already needs no second transaction, which could only fail.
    if (await chain.authorizationUsed(config.payer, depositNonce(channelId, deposit.salt))) return
    const pending = () => new SoukError('settlement_pending', 'The deposit is on its way; ask again for it.')
    const limit = deadline(clock, DEPOSIT_WAIT_MS, pending)
    try {
      await redeemer.deposit(config, deposit, limit.signal)
    } finally {
      limit.clear()
    }
  }
}

const stateOf = ({ books }: PayeeChannel): PayReply => ({ kind: 'state', state: books })
