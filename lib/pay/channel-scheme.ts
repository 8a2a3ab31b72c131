import type { Logger } from '@libp2p/interface'
import { checkMembers, FUNCTION, type MemberRules, OBJECT, withMethods } from '../base/check-members.ts'
import { logOf, reasonOf } from '../base/component-log.ts'
import { asSoukError, SoukError } from '../base/errors.ts'
import { SPLITTERS_CACHED_MAX } from '../base/limits/pay.ts'
import { formatUsdc } from '../base/money.ts'
import { formatRequestId } from '../base/request-id.ts'
import type { Chain } from '../interface/chain.ts'
import type { Deposits } from '../interface/deposits.ts'
import type { Dispute } from '../interface/disputes.ts'
import type { Earnings } from '../interface/earnings.ts'
import type { ReceiptPage, ReceiptQuery, ReceiptRow } from '../interface/receipts.ts'
import type { ChannelId } from '../interface/channel.ts'
import type { Address, Signer } from '../interface/signer.ts'
import type {
  Admission,
  Order,
  PaymentScheme,
  PaymentSchemeComponents,
  PaymentSchemeRetention,
  Reservation,
  Settled
} from '../interface/payment-scheme.ts'
import type { CallRecord } from '../interface/store.ts'
import type { Wallet } from '../interface/wallet.ts'
import { type ChannelSummary, ownerSummary, payerSummary } from './channel-summary.ts'
import { ContractPayments } from './chain/contract-payments.ts'
import { type CreditStatus, DepositCredit } from './payee/deposit-credit.ts'
import { DepositLook } from './payee/deposit-look.ts'
import { DepositService } from './payee/deposit-service.ts'
import { earningsOf } from './earnings-report.ts'
import { nodeWallet } from './chain/node-wallet.ts'
import { PayService } from './payee/pay-service.ts'
import { PayeeChannels } from './payee/payee-channels.ts'
import { Payee } from './payee/payee.ts'
import { EARNED } from './payee/payee-channel.ts'
import { RECEIPTS } from './payer/stored-receipts.ts'
import { type AskedPayRules, type PayRules, payRules } from './payer/pay-rules.ts'
import { createPaying, type Paying } from './payer/paying.ts'
import { receiptDigests } from './signing/receipt.ts'
import { ReceiptHistory } from './receipt-history.ts'
import { ReceiptService } from './payee/receipt-service.ts'
import { ReceiptSigner } from './payee/receipt-signer.ts'
import { RefundService } from './payee/refund-service.ts'
import { UnearnedGas } from './payee/unearned-gas.ts'
import { createSettlement, type Settlement, type SettlementInit } from './settle/settlement.ts'
import { settlementDomain } from './signing/settlement-domain.ts'
import { type SplitterFactory, splitterFactory } from './chain/splitter.ts'
import { tokenDomain } from './signing/token-domain.ts'
import { verifiedChain } from './chain/verified-chain.ts'
import { Keyless } from './x402/keyless.ts'
import { OfferReceipts } from './x402/offer-receipt.ts'
import { Offers } from './x402/offers.ts'
import { PaymentHolders } from './x402/payment-holders.ts'
import { walletDeposits } from './x402/wallet-deposits.ts'

export interface ChannelSchemeInit {
  readonly chain: Chain
  /** The node's wallet. It pays for calls, and it is the settlement address of an owner. */
  readonly signer: Signer
  readonly rules?: AskedPayRules | undefined
  /** When earnings are claimed. */
  readonly policy?: NonNullable<SettlementInit['policy']>
  /** Called with background errors. The payment scheme continues. */
  readonly onError?: (error: SoukError) => void
  /** Called when a payer disputes a charge, and when a dispute ends: on both sides. */
  readonly onDispute?: (dispute: Dispute) => void
  /** Default: the node's own submitter, watch and redeemer on `chain`. */
  readonly settlement?: (init: SettlementInit) => Settlement
}

const RULES: MemberRules<ChannelSchemeInit> = {
  chain: withMethods('a chain, such as `createChain(…)`', 'verify'),
  signer: withMethods('a signer, such as `keySigner(…)`', 'sign'),
  rules: OBJECT,
  policy: OBJECT,
  onError: FUNCTION,
  onDispute: FUNCTION,
  settlement: FUNCTION
}

/** Result of closing one channel. */
export interface ClosedChannel {
  readonly channel: ChannelSummary
  /** Why it is not closed yet. */
  readonly error?: SoukError
}

/** The payment scheme of x402 batch-settlement channels. It also gives access to the owner's books. */
export interface ChannelScheme extends PaymentScheme {
  readonly settlement: Settlement
  readonly wallet: Wallet
  /** Payments of others into the wallet. */
  readonly deposits: Deposits
  /** Earnings by the ledger, after a read of the chain. @throws SoukError `internal_error` */
  earnings(): Promise<Earnings>
  /** @throws SoukError `invalid_request` */
  receipts(query: ReceiptQuery): Promise<ReceiptPage>
  /** The payer's receipt of one call, by request id; undefined if there is none. */
  receipt(requestId: string): Promise<ReceiptRow | undefined>
  /** Charges without a valid receipt, of both sides, newest first. */
  disputes(): Promise<Dispute[]>
  /**
   * Payer: accepts a disputed charge without a receipt. @throws SoukError `invalid_request` if none is open for this call
   */
  acceptCharge(requestId: string): Promise<Dispute>
  /**
   * Owner: takes the charge of a call back. The payer can spend the amount on other calls.
   * @throws SoukError `invalid_request` for a call without a charge, or one that is claimed on chain; `settlement_pending`
   */
  takeBack(peer: string, requestId: string): Promise<Dispute>
  /**
   * Payer: accepts what the owner of a closed channel took beyond the calls of this node, so that the owner is paid again.
   * @throws SoukError `invalid_request` if the channel is not closed and disputed
   */
  acceptTaken(channelId: ChannelId): Promise<ChannelSummary>
  /** The credit that this owner gives before deposits count. */
  credit(): CreditStatus
  /** The channels of both sides, including closed ones. */
  channels(): ChannelSummary[]
  /**
   * Payer: opens the channel to an owner ahead of the first call, so that no call waits for the deposit. Does nothing if it is open.
   * @throws SoukError `invalid_request` for this node itself, and as the first paid call
   */
  open(to: Pick<Order, 'api' | 'owner' | 'payout'>): Promise<ChannelSummary>
  /**
   * Payer: stops paying through the channel and asks its owner to return the unspent deposit. Resolves when the chain shows the
   * refund. The work continues in the background and after a restart. If the owner does not respond, use `withdraw`.
   * @throws SoukError `invalid_request` if this node pays through no such channel or is withdrawing from it; `settlement_pending`,
   *   `owner_unreachable`, and the owner's refusal
   */
  close(channelId: ChannelId, signal?: AbortSignal): Promise<ChannelSummary>
  /**
   * Payer: stops paying through the channel and withdraws without the owner, which may still claim its earnings within the
   * channel's delay. Resolves when the chain shows that the delay has begun. The rest continues in the background and after a
   * restart.
   * @throws SoukError `invalid_request` if this node pays through no such channel, `settlement_unavailable` if the wallet has no
   * gas for it, `settlement_pending` while a deposit is still pending
   */
  withdraw(channelId: ChannelId, signal?: AbortSignal): Promise<ChannelSummary>
  /**
   * Closes every channel that this node pays through and is not withdrawing from. Never throws: each result has its own error.
   */
  closeAll(signal?: AbortSignal): Promise<ClosedChannel[]>
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * The payment scheme for paid calls in USDC through channels; see `docs/explanation/payments.md`.
 * @throws SoukError `invalid_request` for invalid rules, and for an option of a wrong name or type; `settlement_unavailable` on a network without a treasury
 *
 * @example
 * ```ts
 * import { createNode, keySigner } from 'souk'
 * import { NETWORKS } from 'souk/node'
 * import { createChain, createChannelScheme } from 'souk/pay'
 *
 * const chain = createChain(NETWORKS.dev.chain)
 * const signer = keySigner(new Uint8Array(32).fill(7)) // A secret in practice.
 * const node = await createNode({ paymentScheme: createChannelScheme({ chain, signer }) })
 * console.log(node.libp2p.status) // stopped
 * // `await node.start()` verifies the chain, so it needs a reachable endpoint.
 * ```
 */
export function createChannelScheme(init: ChannelSchemeInit): (components: PaymentSchemeComponents) => ChannelScheme {
  checkMembers('The options of `createChannelScheme`', init, RULES, ['chain', 'signer'])
  const rules = payRules(init.rules)
  const { treasury } = init.chain.parameters
  if (treasury === undefined)
    throw new SoukError(
      'settlement_unavailable',
      'This network has no treasury yet, so paid calls are not possible on it.'
    )
  const factory = splitterFactory(treasury)
  const chain = verifiedChain(init.chain)
  return (components) => new ChannelSchemeService({ ...init, chain }, components, rules, factory)
}

/** Caches the splitter's address, which each call needs and which takes two hashes. A node serves few providers. */
function remembered(factory: SplitterFactory): (payout: Address) => Address {
  const splitters = new Map<Address, Address>()
  return (payout) => {
    const known = splitters.get(payout)
    if (known !== undefined) return known
    const splitter = factory.splitterOf(payout)
    if (splitters.size >= SPLITTERS_CACHED_MAX) splitters.clear()
    splitters.set(payout, splitter)
    return splitter
  }
}

class ChannelSchemeService implements ChannelScheme {
  readonly scheme = 'channel'
  readonly movesMoney = true
  readonly takesPayments = true
  readonly settlement: Settlement
  readonly wallet: Wallet
  readonly deposits: Deposits
  readonly earnings: () => Promise<Earnings>
  readonly #log: Logger
  readonly #self: string
  readonly #receipts: ReceiptHistory
  readonly #receiptService: ReceiptService
  readonly #payeeChannels: PayeeChannels
  readonly #payee: Payee
  readonly #keyless: Keyless
  readonly #refunds: RefundService
  readonly #unearned: UnearnedGas
  readonly #credit: DepositCredit
  readonly #makePayer: () => Promise<Paying>
  #payer: Paying | undefined

  constructor(
    {
      chain,
      signer,
      settlement: make = createSettlement,
      onError = () => {},
      onDispute = () => {},
      policy
    }: ChannelSchemeInit,
    components: PaymentSchemeComponents,
    rules: PayRules,
    factory: SplitterFactory
  ) {
    const { calls, documents, shared: common, ledger, link, clock, random, payouts, logger } = components
    const log = logOf(logger, 'souk:pay')
    this.#log = log
    this.#self = link.self
    const { chainId, settlement, usdc } = chain.parameters
    const domain = settlementDomain({ chainId, address: settlement.address })
    const token = tokenDomain({ ...usdc, chainId, verifyingContract: usdc.address })
    const digest = receiptDigests(chain.parameters)
    const channels = new PayeeChannels({ documents, ledger, clock, payouts, settlement: signer.address })
    this.#payeeChannels = channels
    const shared = {
      chain,
      signer,
      clock,
      documents,
      ledger,
      factory,
      onError,
      ...(policy === undefined ? {} : { policy })
    }
    this.settlement = make({ ...shared, books: channels, log: logOf(logger, 'souk:settle') })
    const { watch, redeemer, submitter, transactions } = this.settlement
    this.wallet = nodeWallet({ chain, address: signer.address, submitter, transactions, documents })
    const contractPayments = new ContractPayments(clock)
    const collecting = { chain, clock, submitter, contractPayments }
    this.deposits = walletDeposits({ ...collecting, wallet: signer.address, transactions })
    this.earnings = () => earningsOf({ books: channels, ledger, settlement: this.settlement, onError })
    this.#receipts = new ReceiptHistory({ calls, documents, digest })
    const splitterOf = remembered(factory)
    const receiptSigner = new ReceiptSigner(signer, digest, clock)
    const depositLook = new DepositLook({ channels, watch, clock })
    const admitting = { calls, channels, watch, domain, receiptSigner, depositLook }
    this.#payee = new Payee({ ...admitting, splitterOf, self: link.self, log })
    const books = { calls, documents, ledger, channels, watch, clock }
    const receipts = new ReceiptService({ ...books, submitter, redeemer, receiptSigner, log, onDispute })
    this.#receiptService = receipts
    const terms = { settlement: signer.address, withdrawDelay: rules.withdrawDelay, depositMin: rules.depositMin }
    const wired = { chain, domain, token, clock, splitterOf }
    const unearned = new UnearnedGas({ documents, clock })
    this.#unearned = unearned
    this.#refunds = new RefundService({ channels, redeemer, unearned, watch, clock, onError })
    const credit = new DepositCredit({ documents, clock, rules, redeemer, channels })
    this.#credit = credit
    const allowances = { unearned, contractPayments, credit }
    const deposits = new DepositService({ ...wired, ...allowances, terms, redeemer, watch, channels, payouts })
    const offerReceipts = new OfferReceipts({ signer, clock, onError })
    const offering = { parameters: chain.parameters, splitterOf, terms, exactMin: rules.exactMin }
    const offers = new Offers({ ...offering, offerReceipts })
    const { address } = signer
    const owned = { ...admitting, ...collecting, documents, ledger, onError, deposits }
    const refunds = this.#refunds
    this.#keyless = new Keyless({
      ...owned,
      offers,
      offerReceipts,
      redeemer,
      refunds,
      sender: address,
      settlement: address,
      ...(common && { holders: new PaymentHolders({ shared: common, self: link.self }) })
    })
    new PayService({ terms, clock, channels, deposits, refunds: this.#refunds, receipts }).serve(link)
    const paying = { ...wired, signer, digest, rules, documents, ledger, link, random, submitter, log }
    this.#makePayer = () => createPaying({ ...paying, onError, onDispute })
  }

  async start(): Promise<void> {
    await this.#payeeChannels.start()
    await this.#unearned.start()
    this.#payeeChannels.follow(this.settlement.watch)
    await this.#credit.start(this.settlement.watch)
    this.#payer = await this.#makePayer()
    await this.#payer.channels.start()
    await this.#payer.disputes.start()
    await this.settlement.start()
    await this.#keyless.start()
    this.#refunds.start()
    this.#payer.opener.start()
    this.#payer.channelCloser.start()
  }

  async stop(): Promise<void> {
    this.#keyless.stop()
    await this.#payer?.disputes.stop()
    await this.#payer?.opener.stop()
    await this.#payer?.channelCloser.stop()
    await this.#refunds.stop()
    await this.settlement.stop()
    this.#credit.stop()
    this.#payeeChannels.stop()
    this.#payer?.inspector.stop()
    await this.#payer?.channels.stop()
    this.#payer = undefined
  }

  receipts: ChannelScheme['receipts'] = (query) => this.#receipts.page(query)
  receipt: ChannelScheme['receipt'] = (requestId) => this.#receipts.paid(requestId)
  authorise: PaymentScheme['authorise'] = (order) =>
    this.#log.enabled ? this.#authoriseLogged(order) : this.#paying().payer.authorise(order)
  accept: PaymentScheme['accept'] = (order, answer, sent) => this.#payer?.payer.accept(order, answer, sent)
  settled = (record: CallRecord): Promise<Settled> => this.#receiptService.settled(record)
  fail: PaymentScheme['fail'] = (order, failure) => this.#payer?.payer.fail(order, failure) ?? false
  runsNothing = (text: string): boolean => this.#keyless.runsNothing(text)
  admit: PaymentScheme['admit'] = (admission) => {
    const { payout, price } = admission
    const naming = payout === undefined || price === 0n ? undefined : this.settlement.bookkeeper.name(payout)
    return naming === undefined ? this.#admit(admission) : naming.then(() => this.#admit(admission))
  }

  /**
   * Ledger entries of a channel are kept until the chain has finally paid for them: either the final claims cover all deleted
   * entries, or the channel is closed and final. The earnings of a channel are a balance, which stays in any case.
   */
  readonly retention: PaymentSchemeRetention = {
    collections: [RECEIPTS],
    kinds: ['paid'],
    isDue: (account, total) => {
      const channel = this.#payeeChannels.get(account.slice(EARNED.length) as ChannelId)
      if (!account.startsWith(EARNED) || channel === undefined) return true
      const { info, phase, isFinal } = channel
      return (phase === 'closed' && isFinal) || this.settlement.bookkeeper.claimedOf(info.channelId) >= -total
    }
  }

  async disputes(): Promise<Dispute[]> {
    const sides = await Promise.all([this.#paying().disputes.all(), this.#receiptService.disputes()])
    return sides.flat().sort((a, b) => b.at - a.at)
  }

  acceptCharge(requestId: string): Promise<Dispute> {
    return this.#paying().disputes.accept(requestId)
  }

  async acceptTaken(channelId: ChannelId): Promise<ChannelSummary> {
    return payerSummary(await this.#paying().channels.accept(channelId))
  }

  takeBack(peer: string, requestId: string): Promise<Dispute> {
    return this.#receiptService.takeBack(peer, requestId)
  }

  credit(): CreditStatus {
    return this.#credit.status
  }

  channels(): ChannelSummary[] {
    return [
      ...Array.from(this.#payer?.channels.all() ?? [], payerSummary),
      ...Array.from(this.#payeeChannels.all(), (channel) => ownerSummary(channel, this.#payeeChannels))
    ]
  }

  *boundPeers(): Iterable<string> {
    for (const { info, phase } of this.#payer?.channels.all() ?? []) if (phase !== 'closed') yield info.owner
    for (const { info, isFinal } of this.#payeeChannels.all()) {
      // Channels of x402 clients have no peer.
      if (!isFinal && info.peer !== undefined) yield info.peer
    }
  }

  async open(to: Pick<Order, 'api' | 'owner' | 'payout'>): Promise<ChannelSummary> {
    if (to.owner === this.#self)
      throw new SoukError('invalid_request', 'This node serves the API itself, so calls need no channel.')
    return payerSummary(await this.#paying().payer.open(to))
  }

  async close(channelId: ChannelId, signal?: AbortSignal): Promise<ChannelSummary> {
    return payerSummary(await this.#paying().channelCloser.close(channelId, signal))
  }

  async withdraw(channelId: ChannelId, signal?: AbortSignal): Promise<ChannelSummary> {
    return payerSummary(await this.#paying().channelCloser.withdraw(channelId, signal))
  }

  async closeAll(signal?: AbortSignal): Promise<ClosedChannel[]> {
    const { channels, channelCloser } = this.#paying()
    const leaving = [...channels.all()].filter(({ phase }) => phase === 'open' || phase === 'closing')
    return Promise.all(
      leaving.map(async (channel) => {
        const error = await channelCloser.close(channel.info.channelId, signal).then(() => undefined, asSoukError)
        return { channel: payerSummary(channel), ...(error && { error }) }
      })
    )
  }

  async #authoriseLogged(order: Order): Promise<Uint8Array | undefined> {
    try {
      return await this.#paying().payer.authorise(order)
    } catch (error) {
      const { requestId, price, owner } = order
      const id = formatRequestId(requestId)
      this.#log('%s: %s USDC to %s are not paid: %s', id, formatUsdc(price), owner, reasonOf(error))
      throw error
    }
  }

  #admit(admission: Admission): Reservation | Promise<Reservation> {
    const { payment } = admission
    return payment === undefined ? this.#payee.admit(admission) : this.#keyless.admit(admission, payment)
  }

  #paying(): Paying {
    if (this.#payer === undefined) throw new SoukError('internal_error', 'The node is not running.')
    return this.#payer
  }
}
