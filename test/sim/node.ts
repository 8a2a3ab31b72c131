import { defaultLogger } from '@libp2p/logger'
import type { Clock } from '../../lib/base/clock.ts'
import { isSoukError } from '../../lib/base/errors.ts'
import { requestIds, type RequestIds } from '../../lib/base/request-id.ts'
import { CallProtocol } from '../../lib/call/call-protocol.ts'
import { Consumer } from '../../lib/call/consumer.ts'
import { LocalCaller } from '../../lib/call/local-caller.ts'
import { UsedKeys } from '../../lib/call/used-keys.ts'
import type { Resolver } from '../../lib/interface/directory.ts'
import type { SignedManifest } from '../../lib/interface/manifest.ts'
import type { Signer } from '../../lib/interface/signer.ts'
import type { Store } from '../../lib/interface/store.ts'
import type { Reservation, PaymentScheme } from '../../lib/interface/payment-scheme.ts'
import { nextEpoch } from '../../lib/owner/epoch.ts'
import { Owner } from '../../lib/owner/owner.ts'
import { DEFAULT_TERMS } from '../../lib/owner/served-api.ts'
import { decodeAuthorization } from '../../lib/pay/signing/authorization.ts'
import { type ChannelScheme, createChannelScheme } from '../../lib/pay/channel-scheme.ts'
import type { PayRules } from '../../lib/pay/payer/pay-rules.ts'
import type { Bug } from './bugs.ts'
import type { SimChain } from './chain.ts'
import type { Disk } from './disk.ts'
import { idOf, type Invariants, type Process } from './invariants.ts'
import { Life } from './life.ts'
import type { SimNetwork } from './link.ts'
import type { Rng } from './rng.ts'
import { upstream } from './upstream.ts'
import type { World } from './world.ts'

export interface NodeInit {
  readonly name: string
  readonly peer: string
  readonly world: World
  readonly rng: Rng
  readonly disk: Disk
  readonly signer: Signer
  readonly rules: Partial<PayRules>
  readonly redeemAtoms: bigint
  readonly chain: SimChain
  readonly network: SimNetwork
  readonly invariants: Invariants
  readonly signed: SignedManifest
  /** Peer ids of the owners of the API, in an order that varies. */
  readonly owners: () => readonly string[]
  readonly serves: boolean
  readonly isCalm: () => boolean
  readonly upstreamMs: number
  readonly bug: Bug | undefined
  readonly onDeath: () => void
}

/** One process of a node: the production code, wired as in `lib/service.ts`, in a simulated environment. */
export interface Running {
  readonly life: Life
  readonly epoch: bigint
  readonly consumer: Consumer
  readonly owner: Owner
  readonly paymentScheme: ChannelScheme
  readonly ids: RequestIds
  readonly store: Store
  readonly clock: Clock
  stop(): Promise<void>
}

const RESTART_MS_MAX = 4_000
const SKEW_MS = 500

/** A node: its disk, and one process after the other. */
export class SimNode {
  readonly init: NodeInit
  #running: Running | undefined
  #isWanted = false
  readonly #ups: Array<(running: Running) => void> = []

  constructor(init: NodeInit) {
    this.init = init
  }

  get running(): Running | undefined {
    return this.#running
  }

  /** Starts the node. Whenever it dies, it is restarted after a while. */
  start(): void {
    this.#isWanted = true
    void this.#boot()
  }

  kill(why: string): void {
    const { world, name } = this.init
    if (this.#running === undefined) return
    world.note(name, `is killed: ${why}`)
    this.#running.life.kill()
  }

  up(): Promise<Running> {
    if (this.#running !== undefined) return Promise.resolve(this.#running)
    return new Promise((resolve) => this.#ups.push(resolve))
  }

  /** A clean stop. */
  async stop(): Promise<void> {
    this.#isWanted = false
    await this.#running?.stop()
    this.#running = undefined
  }

  async #boot(): Promise<void> {
    const { world, name, rng, disk, bug } = this.init
    const life = new Life(world)
    life.onDeath(() => {
      this.#running = undefined
      bug?.afterDeath?.(disk)
      this.init.onDeath()
      if (this.#isWanted) world.after(rng.between(50, RESTART_MS_MAX), () => void this.#boot())
    })
    try {
      const running = await this.#assemble(life)
      world.note(name, `is up, epoch ${running.epoch}`)
      this.#running = running
      for (const tell of this.#ups.splice(0)) tell(running)
    } catch (error) {
      if (!isSoukError(error)) return world.fail(error)
      world.note(name, `does not start: ${error.code}`)
      life.kill()
    }
  }

  async #assemble(life: Life): Promise<Running> {
    const { init } = this
    const { world, name, rng, disk, signer, rules, redeemAtoms, network, peer, invariants, signed, bug } = init
    const clock = life.clock(rng.between(-SKEW_MS, SKEW_MS))
    const process = await invariants.startProcess(name, peer, disk.state)
    // A failed database ends the process.
    const mounted = disk.mount(life, () => void world.after(rng.between(0, 20), () => life.kill()))
    const store = bug?.store?.(mounted) ?? mounted
    await store.open()
    const epoch = await nextEpoch(store.documents, clock)
    const link = network.link(peer, life)
    const endpoint = init.chain.endpoint(life, process)
    const { calls: log, documents, ledger } = store
    const payouts = () => (init.serves && signed.manifest.payout !== undefined ? [signed.manifest.payout] : [])
    const channelScheme = createChannelScheme({
      chain: bug?.chain?.(endpoint) ?? endpoint,
      signer,
      rules,
      policy: { atoms: redeemAtoms, ageMs: 60_000 },
      onError: (error) => world.note(name, `has trouble: ${error.code}`)
    })({ calls: log, documents, ledger, link, clock, random: rng, payouts, logger: defaultLogger() })
    const paymentScheme = watched(
      bug?.paymentScheme?.(channelScheme) ?? channelScheme,
      invariants,
      process,
      channelScheme
    )
    const owner = new Owner({ clock, paymentScheme, calls: log, claims: store.claims, self: peer, epoch })
    if (init.serves) {
      const adapter = upstream({ world, rng, invariants, life, isCalm: init.isCalm, delayMs: init.upstreamMs })
      await owner.apis.set({ signed, adapter, terms: DEFAULT_TERMS })
    }
    const handler: typeof owner.handle = async (call, signal) => {
      const answer = await (bug?.handler?.(owner.handle.bind(owner)) ?? owner.handle.bind(owner))(call, signal)
      if (!life.isDead) invariants.onAnswered(name, idOf(call.requestId), answer.charged)
      return answer
    }
    const onAck = log.acknowledge.bind(log)
    const calls = new CallProtocol({ link, clock, network: 'sim', epoch, agent: name, handler, onAck })
    const ids = requestIds(clock, rng)
    const consumer = new Consumer({
      clock,
      resolver: this.#resolver(),
      caller: new LocalCaller({ clock, self: peer, handle: handler, remote: calls }),
      paymentScheme,
      requestIds: ids,
      usedKeys: new UsedKeys({ clock, claims: store.claims, self: peer })
    })
    await channelScheme.start()
    await link.start()
    const stop = async () => {
      await Promise.all([calls.drain(), owner.apis.drain()])
      await link.stop()
      await channelScheme.stop()
      await store.close()
    }
    return { life, epoch, consumer, owner, paymentScheme: channelScheme, ids, store, clock, stop }
  }

  #resolver(): Resolver {
    const { signed, owners } = this.init
    return {
      resolve: async () => ({ signed, owners: owners().map((id) => ({ id, addresses: [] })) }),
      report: () => {}
    }
  }
}

/** The payment scheme, with every promise and every admission reported to the invariants. */
function watched(
  paymentScheme: PaymentScheme,
  invariants: Invariants,
  process: Process,
  { settlement }: ChannelScheme
): PaymentScheme {
  const ended = (reservation: Reservation, id: string): Reservation => ({
    capture: (outcome) => reservation.capture(outcome).finally(() => invariants.onEnded(process, id)),
    release: (outcome) => reservation.release(outcome).finally(() => invariants.onEnded(process, id))
  })
  return {
    scheme: paymentScheme.scheme,
    movesMoney: paymentScheme.movesMoney,
    accept: (order, settled, sent) => paymentScheme.accept(order, settled, sent),
    fail: (order, failure) => paymentScheme.fail(order, failure),
    async authorise(order) {
      const authorization = await paymentScheme.authorise(order)
      if (authorization !== undefined) invariants.onSigned(authorization)
      return authorization
    },
    async admit(admission) {
      const { authorization, requestId, price } = admission
      const id = idOf(requestId)
      if (authorization === undefined || price === 0n) return paymentScheme.admit(admission)
      const voucher = decodeAuthorization(authorization)
      invariants.onPresented(process, voucher)
      const reservation = await paymentScheme.admit(admission)
      const view = settlement.watch.snapshot(voucher.channelId)
      invariants.onAdmitted(process, id, voucher.channelId, price, view)
      return ended(reservation, id)
    }
  }
}
