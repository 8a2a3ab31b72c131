import type { Clock } from '../../base/clock.ts'
import { ignore } from '../../base/ignore.ts'
import { CREDIT_CHANNELS_MAX, CREDIT_LOST_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChannelWatch, Redeemer } from '../../interface/redeem.ts'
import type { Address } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import type { PayeeChannel } from './payee-channel.ts'
import type { PayeeChannels } from './payee-channels.ts'

/** Collection of an owner's documents: its credits by channel id. */
export const DEPOSIT_CREDITS = 'deposit-credits'

/**
 * The most that an owner serves before first deposits count, and that may be lost, in one hour: for all payers, with the gas of the
 * deposits, and for one payer's address. 0: every call waits until its deposit counts.
 */
export interface CreditRules {
  /** Default $1. */
  readonly creditHourMax: Atoms
  /** Default $0.01. */
  readonly creditAddressMax: Atoms
}

export interface DepositCreditInit {
  readonly documents: Documents
  readonly clock: Pick<Clock, 'now'>
  readonly rules: CreditRules
  readonly redeemer: Pick<Redeemer, 'isDepositing' | 'isGasAmple'>
  readonly channels: Pick<PayeeChannels, 'get' | 'size'>
}

/** A credit that counts: its deposit is being submitted, or it was lost in the last hour. */
interface Credit {
  readonly payer: Address
  /** The salt of the deposit's nonce. */
  readonly salt: bigint
  readonly amount: Atoms
  /** Cost of the deposit's gas. The owner loses it as well if the deposit fails. */
  readonly gas: Atoms
  /** When the submission ended. The credit then counts for `CREDIT_LOST_MS`, unless the deposit counts before. */
  readonly endedAt?: number
}

/** The credit that an owner gives before deposits count. Amounts are USDC atoms. */
export interface CreditStatus {
  /** Credits whose deposit does not count yet, and lost ones of the last hour, with the gas of their deposits. */
  readonly used: Atoms
  /** The highest `used`. 0: the node gives no credit. */
  readonly max: Atoms
}

/**
 * The credit that an owner gives against first deposits while it submits them. A credit is durable before the payer learns of it,
 * and counts in full until its deposit counts, or until an hour after its deposit failed. So no sequence of kills lets the owner
 * lose more than `creditHourMax` in an hour.
 */
export class DepositCredit {
  readonly #init: DepositCreditInit
  readonly #credits = new Map<ChannelId, Credit>()
  #forget: (() => void) | undefined

  constructor(init: DepositCreditInit) {
    this.#init = init
  }

  /** Reads the credits of an earlier process. None of them admits calls any more. */
  async start(watch: ChannelWatch): Promise<void> {
    for (const { key, value } of await this.#init.documents.list(DEPOSIT_CREDITS)) {
      const id = key as ChannelId
      this.#credits.set(id, readCredit(value))
      await this.end(id)
    }
    this.#forget = watch.onLook(() => this.#giveBack(watch))
  }

  stop(): void {
    this.#forget?.()
  }

  get status(): CreditStatus {
    return { used: this.#used(), max: this.#init.rules.creditHourMax }
  }

  /**
   * Lets a new channel pay for calls although its deposit is not mined. Durable when it resolves.
   * @param gas cost of the deposit's gas
   * @returns the total of calls that are admitted; 0 if the owner gives no credit
   */
  async give(channel: PayeeChannel, salt: bigint, gas: Atoms): Promise<Atoms> {
    const { channelId, config } = channel.info
    const { payer } = config
    const amount = this.#amountFor(payer, gas)
    if (amount <= 0n || this.#credits.has(channelId)) return 0n
    const credit = { payer, salt, amount, gas }
    // Counted before the write, so that concurrent deposits share one limit.
    this.#credits.set(channelId, credit)
    await this.#save(channelId, credit)
    // The deposit may have ended meanwhile.
    if (this.#credits.get(channelId) !== credit) return 0n
    channel.payeeFunds.lend(amount)
    return amount
  }

  /** The submission of the channel's deposit has ended, so that the chain decides from now on. Durable when it resolves. */
  async end(channelId: ChannelId): Promise<void> {
    this.#init.channels.get(channelId)?.payeeFunds.lend(0n)
    const credit = this.#credits.get(channelId)
    if (credit === undefined || credit.endedAt !== undefined) return
    const ended = { ...credit, endedAt: this.#init.clock.now() }
    this.#credits.set(channelId, ended)
    await this.#save(channelId, ended)
  }

  #amountFor(payer: Address, gas: Atoms): Atoms {
    const { rules, redeemer, channels } = this.#init
    if (rules.creditHourMax === 0n || channels.size > CREDIT_CHANNELS_MAX || !redeemer.isGasAmple()) return 0n
    const own = rules.creditAddressMax - this.#sum(({ payer: other, amount }) => (other === payer ? amount : 0n))
    const left = rules.creditHourMax - this.#used() - gas
    return own < left ? own : left
  }

  #used(): Atoms {
    return this.#sum(({ amount, gas }) => amount + gas)
  }

  #sum(of: (credit: Credit) => Atoms): Atoms {
    this.#forgetOld()
    return [...this.#credits.values()].reduce((sum, credit) => sum + of(credit), 0n)
  }

  /** A transaction that is still being sent may fail later, so its credit counts longer. */
  #forgetOld(): void {
    const { clock, redeemer, channels } = this.#init
    for (const [id, { endedAt, salt }] of this.#credits) {
      if (endedAt === undefined || clock.now() < endedAt + CREDIT_LOST_MS) continue
      const config = channels.get(id)?.info.config
      if (config === undefined || !redeemer.isDepositing(config, salt)) this.#delete(id)
    }
  }

  /** Ends the credits of deposits in a block. Returns those that are covered by a deposit that counts. */
  #giveBack(watch: Pick<ChannelWatch, 'snapshot'>): void {
    for (const id of this.#credits.keys()) {
      const funds = this.#init.channels.get(id)?.payeeFunds
      if (funds === undefined || (watch.snapshot(id)?.latest.balance ?? 0n) === 0n) continue
      funds.lend(0n)
      if (funds.limit > 0n && funds.limit >= funds.captured + funds.reserved) this.#delete(id)
    }
  }

  /** A crash before the write only makes the credit count longer. */
  #delete(id: ChannelId): void {
    this.#credits.delete(id)
    this.#init.documents.delete(DEPOSIT_CREDITS, id).catch(ignore)
  }

  #save(id: ChannelId, { payer, salt, amount, gas, endedAt }: Credit): Promise<void> {
    const amounts = { salt: salt.toString(), amount: amount.toString(), gas: gas.toString() }
    return this.#init.documents.put(DEPOSIT_CREDITS, id, JSON.stringify({ payer, ...amounts, endedAt }))
  }
}

function readCredit(document: string): Credit {
  const { payer, salt, amount, gas, endedAt } = JSON.parse(document) as {
    readonly payer: Address
    readonly salt: string
    readonly amount: string
    readonly gas: string
    readonly endedAt?: number
  }
  const read = { payer, salt: BigInt(salt), amount: BigInt(amount), gas: BigInt(gas) }
  return endedAt === undefined ? read : { ...read, endedAt }
}
