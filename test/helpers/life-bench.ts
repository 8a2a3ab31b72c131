import { defaultLogger } from '@libp2p/logger'
import type { ApiId } from '../../lib/base/api-name.ts'
import { asSoukError, SoukError } from '../../lib/base/errors.ts'
import { type Clock, systemClock } from '../../lib/base/clock.ts'
import { DEPOSIT_WAIT_MS, PAYER_WRITE_MS, PAY_EXCHANGE_MS } from '../../lib/base/limits/pay.ts'
import { fromHex } from '../../lib/base/hex.ts'
import { systemRandom } from '../../lib/base/random.ts'
import type { ChannelId } from '../../lib/interface/channel.ts'
import type { ExchangeHandler } from '../../lib/interface/link.ts'
import type { Signer } from '../../lib/interface/signer.ts'
import type { Store } from '../../lib/interface/store.ts'
import type { Order, Reservation, Settled } from '../../lib/interface/payment-scheme.ts'
import type { ChannelSummary } from '../../lib/pay/channel-summary.ts'
import { type ChannelScheme, createChannelScheme } from '../../lib/pay/channel-scheme.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { decodePayRequest, encodePayRequest, type PayRequest } from '../../lib/pay/channel/pay-messages.ts'
import type { PayRules } from '../../lib/pay/payer/pay-rules.ts'
import { createMemoryStore } from '../../lib/store/memory/store.ts'
import { freshIds, peerId } from './call-record.ts'
import type { ChannelBench } from './channel-bench.ts'
import { eventually } from './eventually.ts'
import { type Mortal, mortal } from './mortal.ts'
import { outcome, sent } from './scheme-bench.ts'

const BOUND_MS = 15_000
const DELAY_S = 900
/**
 * Shortens polls and pauses, but not maximum waiting times, because test machines may be slow, nor the delay of writes, so that a
 * process dies with as much unwritten as a real one.
 */
const shortOf = (delayMs: number): number => Math.min(delayMs / 100, 60)
const SLOWER = 10
const PATIENT: readonly number[] = [PAY_EXCHANGE_MS, DEPOSIT_WAIT_MS, PAYER_WRITE_MS]
let keys = 5_000

/** One process of a node. The node's store, wallet and name outlive it. */
export interface Life {
  readonly peer: string
  readonly signer: Signer
  readonly store: Store
  readonly paymentScheme: ChannelScheme
  readonly errors: SoukError[]
  readonly process: Mortal
}

export interface LifeOptions {
  readonly gas?: boolean
  readonly usdc?: bigint
  readonly rules?: Partial<PayRules>
  /** Default: a new wallet. */
  readonly signer?: Signer
  /** The earlier process, for a later process of the same node. */
  readonly of?: Life
  readonly process?: Mortal
  /** Default: a new one in memory. */
  readonly store?: Store
}

/** The state that nodes on one chain share. */
export interface Shared {
  /** How far the chain's time was advanced. It applies to the clocks of all nodes. */
  ms: number
  minting: Promise<void>
}

export async function shared({ chain }: ChannelBench): Promise<Shared> {
  const head = await chain.block('latest')
  return { ms: Math.max(0, (head?.at ?? 0) - systemClock.now()), minting: Promise.resolve() }
}

/** Nodes with channel payment schemes on a real chain, connected without sockets. */
export async function lifeBench(bench: ChannelBench, common?: Shared) {
  const services = new Map<string, ExchangeHandler>()
  /** Callbacks of callers that wait for a response of a node that dies. */
  const cuts = new Map<string, Array<() => void>>()
  const running = new Set<Life>()
  const ahead = common ?? (await shared(bench))
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + ahead.ms,
    elapsed: () => systemClock.elapsed() * SLOWER,
    after: (delayMs, task) => systemClock.after(PATIENT.includes(delayMs) ? delayMs : shortOf(delayMs), task)
  }
  const provider = keySigner(fromHex(`0x${(keys++).toString(16).padStart(64, '0')}`, 32)).address
  const api: ApiId = `ticker@${peerId('P')}`
  const treasury = bench.parameters.treasury ?? bench.stranger.address
  await bench.client.setAutomine(true)
  const treasuryBefore = await bench.usdc(treasury)
  /** Hooks between the nodes: a test may cut the connection or inspect requests. */
  const line: { before?: (to: string, request: PayRequest) => void | Promise<void>; after?: () => void } = {}

  async function start(name: string, options: LifeOptions = {}): Promise<Life> {
    const { of, gas = true, usdc = 0n, process = mortal() } = options
    const signer =
      of?.signer ?? options.signer ?? keySigner(fromHex(`0x${(keys++).toString(16).padStart(64, '0')}`, 32))
    const store = of?.store ?? options.store ?? createMemoryStore()
    await store.open()
    if (of === undefined && gas) await bench.fundGas(signer.address)
    // One after the other, because they are transactions of one account.
    ahead.minting = ahead.minting.then(() => (usdc > 0n ? bench.mint(signer.address, usdc) : undefined))
    await ahead.minting
    const peer = peerId(name)
    const errors: SoukError[] = []
    const paymentScheme = createChannelScheme({
      chain: process.chain(bench.chain),
      signer,
      rules: { withdrawDelay: DELAY_S, ...options.rules },
      onError: (error) => void errors.push(error)
    })({
      calls: store.calls,
      documents: process.documents(store.documents),
      ledger: process.ledger(store.ledger),
      link: {
        self: peer,
        serve: (_protocol, handler) => void services.set(peer, handler),
        async exchange({ id }, _protocol, request) {
          const service = services.get(id)
          if (service === undefined || process.isDead) throw new SoukError('owner_unreachable')
          await line.before?.(id, decodePayRequest(request))
          const { promise: cut, reject } = Promise.withResolvers<never>()
          cuts.set(id, [...(cuts.get(id) ?? []), () => reject(new SoukError('owner_unreachable'))])
          const reply = await Promise.race([service(request, peer), cut])
          line.after?.()
          return reply
        }
      },
      clock,
      random: systemRandom,
      payouts: () => [provider],
      logger: defaultLogger()
    })
    const life = { peer, signer, store, paymentScheme, errors, process }
    if (await begun(paymentScheme, process)) running.add(life)
    return life
  }

  async function stop(life: Life): Promise<void> {
    running.delete(life)
    services.delete(life.peer)
    await life.paymentScheme.stop()
  }

  /** Starts an admitted call without finishing it. */
  async function begin(payer: Life, owner: Life, price: bigint) {
    const order: Order = { requestId: freshIds.next(), api, owner: owner.peer, revision: 1, price, payout: provider }
    for (let tries = 0; ; tries++) {
      const authorization = await payer.paymentScheme.authorise(order)
      try {
        const admission = { ...order, peer: payer.peer, ...(authorization && { authorization }) }
        return { order, reservation: await owner.paymentScheme.admit(admission) }
      } catch (thrown) {
        const error = asSoukError(thrown)
        const fate = error.notAccepted ? 'not_accepted' : 'failed'
        if (!payer.paymentScheme.fail(order, { fate, error }) || tries > 0) throw error
      }
    }
  }

  async function end(payer: Life, { order, reservation }: { order: Order; reservation: Reservation }) {
    const settled = await reservation.capture({ ...outcome(order.api), rule: 'success' })
    await payer.paymentScheme.accept(order, { ...settled, status: 200 }, sent(order.api))
    return settled
  }

  return {
    provider,
    treasury,
    services,
    line,
    start,
    stop,
    begin,
    end,
    async onChain(id: ChannelId) {
      const [state] = (await bench.chain.channels([id], 'latest')).channels
      if (state === undefined) throw new Error('no channel')
      return state
    },
    /** Advances the time of the chain and of all nodes. */
    async wait(seconds: number): Promise<void> {
      ahead.ms += seconds * 1_000
      await bench.wait(seconds)
    },
    /** Kills the process; the node no longer responds. */
    kill(life: Life): void {
      life.process.kill()
      running.delete(life)
      services.delete(life.peer)
      for (const cut of cuts.get(life.peer) ?? []) cut()
    },
    call: async (payer: Life, owner: Life, price = 1_000n): Promise<Settled> =>
      end(payer, await begin(payer, owner, price)),
    async close() {
      await Promise.all([...running].map(stop))
    },
    /** Converts a close request to a state request, for an owner that only reports its state. */
    asState(request: Uint8Array): Uint8Array {
      const read = decodePayRequest(request)
      return read.kind === 'close' ? encodePayRequest({ ...read, kind: 'state' }) : request
    },
    /** The payer's only channel, or the one with this id. */
    channel: ({ paymentScheme }: Life, id?: ChannelId): ChannelSummary => {
      const found = paymentScheme.channels().filter(({ channelId }) => id === undefined || channelId === id)
      const [channel] = found
      if (channel === undefined || found.length > 1) throw new Error(`${found.length} channels`)
      return channel
    },
    until: (what: string, ask: () => boolean | Promise<boolean>) =>
      eventually(what, BOUND_MS, async () => ((await ask()) ? true : undefined)),
    /** The provider's balance, and the treasury's increase since the start. */
    paid: async () => ({
      provider: await bench.usdc(provider),
      treasury: (await bench.usdc(treasury)) - treasuryBefore
    }),
    /** The payer's accounts of one channel. With the wallet they sum to zero. */
    async books({ store }: Life, id: ChannelId) {
      const { ledger } = store
      const [inside, spent, wallet, unclaimed] = await Promise.all(
        [`channel/${id}`, `spent/${id}`, 'wallet', `unclaimed/${id}`].map((account) => ledger.balance(account))
      )
      return { inside, spent, wallet, unclaimed }
    }
  }
}

export type LifeBench = Awaited<ReturnType<typeof lifeBench>>

/** Detects the death during start, which the process cannot report. */
async function begun(paymentScheme: ChannelScheme, process: Mortal): Promise<boolean> {
  let hasStarted = false
  const starting = paymentScheme.start().then(() => (hasStarted = true))
  await Promise.race([
    starting,
    eventually('it starts', BOUND_MS, () => (process.isDead || hasStarted ? true : undefined))
  ])
  return hasStarted
}
