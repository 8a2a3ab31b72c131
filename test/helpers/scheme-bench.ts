import { defaultLogger } from '@libp2p/logger'
import type { ApiId } from '../../lib/base/api-name.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { asSoukError, SoukError } from '../../lib/base/errors.ts'
import { systemRandom } from '../../lib/base/random.ts'
import { type HashedRequest, requestHash } from '../../lib/base/request-hash.ts'
import type { Block, Chain, ChannelState } from '../../lib/interface/chain.ts'
import type { ChannelConfig, ChannelId } from '../../lib/interface/channel.ts'
import type { ExchangeHandler } from '../../lib/interface/link.ts'
import type { ChainParameters } from '../../lib/interface/network.ts'
import type { ChannelSnapshot, ChannelWatch, OwnerBooks, Redeemer } from '../../lib/interface/redeem.ts'
import type { Address, Signer } from '../../lib/interface/signer.ts'
import type { Store } from '../../lib/interface/store.ts'
import type { Mined } from '../../lib/interface/submitter.ts'
import type { Admission, Order, Outcome, Settled } from '../../lib/interface/payment-scheme.ts'
import { type ChannelScheme, createChannelScheme } from '../../lib/pay/channel-scheme.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import type { PayRules } from '../../lib/pay/payer/pay-rules.ts'
import { depositNonce } from '../../lib/pay/chain/settlement-calls.ts'
import type { Settlement, SettlementInit } from '../../lib/pay/settle/settlement.ts'
import { settlementDomain } from '../../lib/pay/signing/settlement-domain.ts'
import { createMemoryStore } from '../../lib/store/memory/store.ts'
import { freshIds, peerId } from './call-record.ts'
import { MANUAL_START, type ManualClock, manualClock } from './manual-clock.ts'

const address = (byte: string): Address => `0x${byte.repeat(20)}`
const parameters: ChainParameters = {
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:1',
  usdc: { address: address('aa'), name: 'USDC', version: '2' },
  settlement: { address: address('bb'), codeHash: `0x${'00'.repeat(32)}` },
  collector: { address: address('cc'), codeHash: `0x${'00'.repeat(32)}` },
  treasury: address('dd'),
  confirmations: 1
}
const domain = settlementDomain({ chainId: parameters.chainId, address: parameters.settlement.address })
export const PAYOUT = address('ee')
/** A channel in which one address plays all parts. */
export const OWN_CHANNEL: ChannelConfig = {
  payer: PAYOUT,
  payerAuthorizer: PAYOUT,
  receiver: PAYOUT,
  receiverAuthorizer: PAYOUT,
  token: PAYOUT,
  withdrawDelay: 900,
  salt: `0x${'00'.repeat(32)}`
}
export const API: ApiId = `ticker@${peerId('P')}`

interface OnChain {
  latest: bigint
  safe: bigint
  finalized: bigint
  withdrawing: bigint
  claimed?: bigint
}

/** A simulated chain without blocks. Changes take effect at once, on every tag unless a test changes that. */
export class PlayChain<C extends Pick<Clock, 'now' | 'elapsed'> = ManualClock> {
  readonly clock: C
  readonly wallets = new Map<Address, bigint>()
  readonly channels = new Map<ChannelId, OnChain>()
  readonly used = new Set<string>()
  /** True if new deposits show only at the head. */
  isFresh = false
  isAway = false
  deposits = 0

  constructor(clock: C) {
    this.clock = clock
  }

  readonly chain: Pick<
    Chain,
    'parameters' | 'verify' | 'channels' | 'balance' | 'block' | 'code' | 'authorizationUsed' | 'gas' | 'fees'
  > = {
    gas: async () => 0n,
    fees: async () => ({ maxFee: 1n, tip: 0n }),
    verify: async () => {},
    parameters,
    block: async () => this.#block(),
    code: async () => '0x',
    balance: async (account) => this.wallets.get(account) ?? 0n,
    authorizationUsed: async (payer, nonce) => this.used.has(`${payer}/${nonce}`),
    channels: async (ids, at) => {
      if (this.isAway) throw new SoukError('settlement_unavailable')
      return { block: this.#block(), channels: ids.map((id) => this.state(id, at as 'latest')) }
    }
  }

  state(id: ChannelId, at: 'latest' | 'safe' | 'finalized'): ChannelState {
    const channel = this.channels.get(id)
    const withdrawing = channel?.withdrawing ?? 0n
    const withdrawal = withdrawing === 0n ? {} : { withdrawal: { amount: withdrawing, since: 0 } }
    return { balance: channel?.[at] ?? 0n, claimed: channel?.claimed ?? 0n, refundNonce: 0n, ...withdrawal }
  }

  #block(): Block {
    return { number: 1n, hash: '0x', at: this.clock.now() }
  }

  settlement({ books }: Pick<SettlementInit, 'books'>): Settlement {
    const [watch, redeemer] = [this.watch(books), this.redeemer()]
    const submitter = {
      submit: () => Promise.reject(new Error('not in this test')),
      hashOf: () => undefined,
      has: () => false,
      onFinal: () => () => {},
      status: () => ({ address: address('ff'), planned: 0, unmined: 0, unfinal: 0, hasNoGas: false })
    }
    const bookkeeper = {
      asOf: undefined,
      name: () => undefined,
      splitters: () => new Map(),
      claimedOf: () => 0n,
      writtenOffOf: () => 0n,
      look: async () => {}
    }
    const transactions = { find: async () => undefined, latest: async () => [], cost: { transactions: 0, cost: 0n } }
    return { submitter, watch, redeemer, bookkeeper, transactions, start: () => watch.start(), stop: async () => {} }
  }

  watch(_books: OwnerBooks): ChannelWatch {
    const seen = new Map<ChannelId, { snapshot: ChannelSnapshot; at: number }>()
    const listeners = new Set<(ids: readonly ChannelId[]) => void>()
    const refresh = async (ids: readonly ChannelId[]) => {
      if (this.isAway) throw new SoukError('settlement_unavailable')
      for (const id of ids) {
        const snapshot = {
          latest: this.state(id, 'latest'),
          safe: this.state(id, 'safe'),
          finalized: this.state(id, 'finalized')
        }
        seen.set(id, { snapshot, at: this.clock.elapsed() })
      }
      for (const listener of listeners) listener(ids)
    }
    return {
      snapshot: (id) => seen.get(id)?.snapshot,
      age: (id) => this.clock.elapsed() - (seen.get(id)?.at ?? Number.NEGATIVE_INFINITY),
      refresh,
      onLook: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      start: () => refresh(Array.from(_books.channels(), ({ channelId }) => channelId)),
      stop: () => {}
    }
  }

  redeemer(): Redeemer {
    const unused = () => Promise.reject(new Error('not in this test'))
    return {
      checkGas: () => {},
      refreshGas: async () => undefined,
      costOf: () => 0n,
      isGasAmple: () => false,
      depositHash: () => undefined,
      isDepositing: () => false,
      isClaiming: false,
      received: () => {},
      deposit: async (config, { amount, salt }) => {
        const balance = this.wallets.get(config.payer) ?? 0n
        if (balance < amount) throw new SoukError('payment_rejected', 'The chain refuses the deposit.')
        const id = domain.channelId(config)
        this.wallets.set(config.payer, balance - amount)
        this.used.add(`${config.payer}/${depositNonce(id, salt)}`)
        const before = this.channels.get(id) ?? { latest: 0n, safe: 0n, finalized: 0n, withdrawing: 0n }
        const settled = this.isFresh ? 0n : amount
        this.channels.set(id, {
          ...before,
          latest: before.latest + amount,
          safe: before.safe + settled,
          finalized: before.finalized + settled
        })
        this.deposits++
        return {} as Mined
      },
      claim: unused,
      refund: unused,
      settleNow: unused,
      payoutRefusal: unused,
      status: () => ({ claimable: 0n, refused: [], withheld: [] }),
      start: async () => {},
      stop: async () => {}
    }
  }
}

export interface SchemeNode {
  readonly peer: string
  readonly signer: Signer
  /** Number of signatures by its key. */
  readonly signatures: () => number
  readonly store: Store
  readonly paymentScheme: ChannelScheme
}

export interface CallOptions {
  readonly price?: bigint
  readonly maxPrice?: bigint
  /** The cost, if less than the price. */
  readonly amount?: bigint
  readonly payout?: Address
  /** The outcome of the call at the owner, and on the way back. */
  readonly fate?: 'captured' | 'void' | 'failed' | 'timed out' | 'lost'
}

/** Nodes with a channel payment scheme each on one simulated chain. Calls between them need no call protocol. */
export function schemeBench() {
  const play = new PlayChain(manualClock())
  const services = new Map<string, ExchangeHandler>()
  const line = { dropReplies: 0 }
  let keys = 1

  async function start(
    name: string,
    rules: Partial<PayRules> = {},
    { store = createMemoryStore(), signer = keySigner(new Uint8Array(32).fill(keys++)), wrap = (s: Signer) => s } = {}
  ): Promise<SchemeNode> {
    const peer = peerId(name)
    const wrapped = wrap(signer)
    let signatures = 0
    const counting: Signer = {
      address: wrapped.address,
      sign: (digest) => {
        signatures++
        return wrapped.sign(digest)
      }
    }
    await store.open()
    const paymentScheme = createChannelScheme({
      chain: play.chain as Chain,
      signer: counting,
      settlement: (init) => play.settlement(init),
      rules
    })({
      calls: store.calls,
      documents: store.documents,
      ledger: store.ledger,
      link: {
        self: peer,
        serve: (_protocol, handler) => void services.set(peer, handler),
        exchange: async ({ id }, _protocol, request) => {
          const service = services.get(id)
          if (service === undefined) throw new SoukError('owner_unreachable')
          const reply = await service(request, peer)
          if (line.dropReplies-- > 0) throw new SoukError('owner_unreachable')
          return reply
        }
      },
      clock: play.clock,
      random: systemRandom,
      payouts: () => [PAYOUT],
      logger: defaultLogger()
    })
    await paymentScheme.start()
    return { peer, signer, signatures: () => signatures, store, paymentScheme }
  }

  /** Makes one call as consumer and owner. Returns its error, or the settlement. */
  async function call(payer: SchemeNode, owner: SchemeNode, options: CallOptions = {}): Promise<Settled> {
    const { price = 100n, fate = 'captured', payout = PAYOUT, maxPrice, amount } = options
    const order: Order = {
      requestId: freshIds.next(),
      api: API,
      owner: owner.peer,
      revision: 1,
      price,
      payout,
      ...(maxPrice === undefined ? {} : { maxPrice })
    }
    for (let tries = 0; ; tries++) {
      const authorization = await payer.paymentScheme.authorise(order)
      const admission: Admission = {
        ...order,
        peer: payer.peer,
        ...(authorization === undefined ? {} : { authorization })
      }
      try {
        const reservation = await owner.paymentScheme.admit(admission)
        const settled = await (fate === 'captured' || fate === 'timed out' || fate === 'lost'
          ? reservation.capture({ ...outcome(), rule: 'success' }, amount)
          : reservation.release(outcome()))
        if (fate === 'captured' || fate === 'void')
          await payer.paymentScheme.accept(order, { ...settled, status: 200 }, sent())
        else
          payer.paymentScheme.fail(order, {
            fate: fate === 'lost' ? 'lost' : 'failed',
            error: new SoukError('upstream_timeout')
          })
        return settled
      } catch (thrown) {
        const error = asSoukError(thrown)
        const isRefused = error.notAccepted
        const again = payer.paymentScheme.fail(order, { fate: isRefused ? 'not_accepted' : 'failed', error })
        if (!again || tries > 0) throw error
      }
    }
  }

  /** The newest channel. */
  const channelId = () => [...play.channels.keys()].at(-1)!
  const onChain = () => play.channels.get(channelId())!

  /** The amounts that both sides have booked for the newest channel, after all queued writes of the payer. */
  async function books(owner: SchemeNode, payer: SchemeNode): Promise<{ earned: bigint; spent: bigint }> {
    await payer.paymentScheme.stop()
    return {
      earned: -(await owner.store.ledger.balance(`earned/${channelId()}`)),
      spent: await payer.store.ledger.balance(`spent/${channelId()}`)
    }
  }

  return { play, line, services, domain, start, call, channelId, onChain, books }
}

/** The request of every call of a bench. */
export const sent = (api: ApiId = API): HashedRequest => ({ api, method: 'POST', path: '', body: new Uint8Array(0) })

export const outcome = (api: ApiId = API): Outcome => ({
  status: 200,
  requestHash: requestHash(sent(api)),
  at: MANUAL_START,
  ownerMs: 5,
  upstreamMs: 4
})

export type SchemeBench = ReturnType<typeof schemeBench>
