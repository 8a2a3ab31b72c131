import { type Clock, deadline } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import { DEPOSIT_WAIT_MS, PAY_MESSAGE_BYTES_MAX } from '../../base/limits/pay.ts'
import { within } from '../../base/within.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { Link } from '../../interface/link.ts'
import { channelSalt } from '../signing/channel-salt.ts'
import type { Brought, DepositService } from './deposit-service.ts'
import type { PayeeChannel } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'
import {
  decodePayRequest,
  type DepositRequest,
  encodePayReply,
  PAY_PROTOCOL,
  type PayReply,
  type Terms
} from '../channel/pay-messages.ts'
import type { ReceiptService } from './receipt-service.ts'
import type { RefundService } from './refund-service.ts'

export interface PayServiceInit {
  readonly terms: Terms
  readonly channels: Pick<PayeeChannels, 'get'>
  readonly deposits: Pick<DepositService, 'bring'>
  readonly refunds: Pick<RefundService, 'close'>
  readonly receipts: Pick<ReceiptService, 'receipt'>
  readonly clock: Clock
}

/** The owner's payment service: serves requests of payers for terms, deposits, channel state, receipts and closing. */
export class PayService {
  readonly #init: PayServiceInit
  /** Peers with a pending deposit. A deposit costs transactions and look-ups, so each peer has one at a time. */
  readonly #busy = new Set<string>()
  /** Peers that wait for a receipt. Each costs a signature, so each peer has one at a time. */
  readonly #asking = new Set<string>()

  constructor(init: PayServiceInit) {
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
      if (request.kind === 'receipt') {
        const sign = () => this.#init.receipts.receipt(request.receipt, peer)
        return { kind: 'receipt', receipt: await oneOf(this.#asking, peer, receiptPending, sign) }
      }
      const { channel, credit } = await oneOf(this.#busy, peer, depositPending, () =>
        this.#deposit(request.deposit, peer)
      )
      return { ...stateOf(channel), credit }
    } catch (thrown) {
      const { code, message, retryAfterMs } = asSoukError(thrown)
      const refusal = { kind: 'refusal', code, detail: message } as const
      return retryAfterMs === undefined ? refusal : { ...refusal, retryAfterMs }
    }
  }

  #own(channelId: ChannelId, peer: string): PayeeChannel {
    const channel = this.#init.channels.get(channelId)
    if (channel === undefined || channel.info.peer !== peer) {
      throw new SoukError('payment_required', 'The owner does not know this channel.')
    }
    return channel
  }

  /** Idempotent: a repeated request returns the same refund. */
  async #close(channelId: ChannelId, peer: string): Promise<PayeeChannel> {
    const { refunds, clock } = this.#init
    const channel = this.#own(channelId, peer)
    if (this.#busy.has(peer))
      throw new SoukError('overloaded', 'A deposit of this node is still pending. Try again later.')
    const pending = () => new SoukError('settlement_pending', 'The channel is being closed. Repeat the request.')
    const limit = deadline(clock, DEPOSIT_WAIT_MS, pending)
    try {
      await within(refunds.close(channel), limit.signal)
    } finally {
      limit.clear()
    }
    return channel
  }

  async #deposit({ counter, ...deposit }: DepositRequest, peer: string): Promise<Brought> {
    if (deposit.config.salt !== channelSalt(peer, counter)) {
      throw new SoukError('payment_rejected', 'The channel is rejected: its salt does not belong to this peer.')
    }
    return this.#init.deposits.bring(deposit, peer)
  }
}

const stateOf = ({ books }: PayeeChannel) => ({ kind: 'state', state: books }) as const

const depositPending = () => new SoukError('overloaded', 'A deposit of this node is already pending. Try again later.')
const receiptPending = () => new SoukError('overloaded', 'A receipt of this node is being signed. Try again.')

/** Runs a task of a peer, unless another one of this kind is running. */
async function oneOf<T>(
  running: Set<string>,
  peer: string,
  refusal: () => SoukError,
  task: () => Promise<T>
): Promise<T> {
  if (running.has(peer)) throw refusal()
  running.add(peer)
  try {
    return await task()
  } finally {
    running.delete(peer)
  }
}
