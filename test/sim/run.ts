import { text } from '../../lib/base/bytes.ts'
import { asSoukError } from '../../lib/base/errors.ts'
import { DEPOSIT_VALID_MS } from '../../lib/base/limits/pay.ts'
import type { ChannelId } from '../../lib/interface/channel.ts'
import type { Address } from '../../lib/interface/signer.ts'
import type { ChannelScheme } from '../../lib/pay/channel-scheme.ts'
import { settlementCalls } from '../../lib/pay/chain/settlement-calls.ts'
import type { Bug } from './bugs.ts'
import { SimChain } from './chain.ts'
import { channelOf, parameters, transferOf, WITHDRAW_DELAY_S } from './contracts.ts'
import { Disk } from './disk.ts'
import { FinalChecks } from './final-checks.ts'
import { idOf, Invariants } from './invariants.ts'
import { SimNetwork } from './link.ts'
import { type Running, SimNode } from './node.ts'
import type { OneFault } from './one-fault.ts'
import { manifestOf, OWNERS, PAYERS, type Leave, type PlannedCall, type Scenario, scenarioOf } from './scenario.ts'
import { answerTo } from './upstream.ts'
import { World } from './world.ts'

export interface Run {
  /** A digest of all events. Two runs of a seed have the same. */
  readonly digest: string
  readonly captured: number
  readonly delivered: number
  readonly deaths: number
  /** Calls served before their deposit counted. */
  readonly onCredit: number
}

export interface RunOptions {
  readonly bug?: Bug | undefined
  /** Replaces all other faults. */
  readonly fault?: OneFault
  /** Called with each line of the log. */
  readonly onLine?: (line: string) => void
}

/** Runs one seed to its end. @throws Violation, or any other error */
export async function run(seed: number, { bug, fault, onLine }: RunOptions = {}): Promise<Run> {
  const world = new World(seed, onLine)
  const scenario = scenarioOf(world.rng.fork())
  const stage = new Stage(world, fault === undefined ? scenario : withoutFaults(scenario), bug, fault)
  await world.run(stage.play())
  const fates = [...stage.invariants.fates.values()]
  return {
    digest: world.digest(),
    captured: fates.filter(({ record }) => record?.outcome === 'captured').length,
    delivered: fates.filter(({ delivered }) => delivered !== undefined).length,
    deaths: stage.deaths,
    onCredit: stage.invariants.onCredit
  }
}

const CALM = { reorg: 0, passedOver: 0, forgotten: 0, away: 0, lag: 0 }
const QUIET = { delayMs: 5, drop: 0, duplicate: 0, reorder: 0, cut: 0 }
function withoutFaults({ outage: _, drain: __, ...scenario }: Scenario): Scenario {
  return { ...scenario, link: QUIET, chain: CALM, crash: 0, kills: [], cuts: [] }
}

/** Longer than any call that began during the faults. */
const SETTLE_MS = 17_000
const LAST_TRIES = 8
/** The validity of a pending deposit, then the withdrawal delay, then time for retries. */
const LEFT_MS = DEPOSIT_VALID_MS + 2 * WITHDRAW_DELAY_S * 1_000
const calls = settlementCalls(parameters)

const BACK_MS = 5_000
const BACK_TRIES = 6
/** Where drained money goes. */
const THIEF: Address = `0x${'1f'.repeat(20)}`

/** If it fails, the node retries in the background. */
function ask(paymentScheme: ChannelScheme, how: Leave['how'] | undefined, id: ChannelId): void {
  void (how === 'closes' ? paymentScheme.close(id) : paymentScheme.withdraw(id)).catch(() => {})
}

/** All phases of one run: faults, recovery, and the final checks. */
class Stage {
  readonly invariants: Invariants
  deaths = 0
  readonly #world: World
  readonly #scenario: Scenario
  readonly #chain: SimChain
  readonly #network: SimNetwork
  readonly #owners: SimNode[]
  readonly #payers: SimNode[]
  readonly #fault: OneFault | undefined
  /** Channels that must be empty in the end. */
  readonly #left = new Set<ChannelId>()
  #isCalm = false
  /** The only owner of calls; undefined for any owner. */
  #only: string | undefined

  constructor(world: World, scenario: Scenario, bug: Bug | undefined, fault: OneFault | undefined) {
    this.#fault = fault
    this.#world = world
    this.#scenario = scenario
    this.invariants = new Invariants(world, scenario.rules)
    const wallets = new Map(PAYERS.map(({ signer }) => [signer.address, scenario.wallet]))
    const faults = () => (this.#isCalm ? CALM : this.#isAway ? { ...scenario.chain, away: 1 } : scenario.chain)
    this.#chain = new SimChain({ world, wallets, faults, invariants: this.invariants })
    this.#network = new SimNetwork(
      world,
      () => (this.#isCalm ? QUIET : scenario.link),
      () => (this.#isCalm ? undefined : this.#fault?.atMessage())
    )
    this.#owners = OWNERS.slice(0, scenario.owners).map((person) => this.#node(person, true, bug))
    this.#payers = PAYERS.slice(0, scenario.payers).map((person) => this.#node(person, false, bug))
  }

  async play(): Promise<void> {
    const nodes = [...this.#owners, ...this.#payers]
    for (const node of nodes) node.start()
    const { calls, kills, cuts, troubleMs, leave, drain } = this.#scenario
    if (drain !== undefined) this.#drain(drain)
    for (const { at, node } of kills) void this.#world.after(at, () => nodes[node]?.kill('out of the blue'))
    for (const { at, node, forMs } of cuts) this.#cut(at, nodes[node]?.init.peer ?? '', forMs)
    if (leave !== undefined) void this.#world.after(leave.at, () => void this.#leave(leave.how))
    const made = calls.map(async (call) => {
      await this.#world.sleep(call.at)
      await this.#use(call)
    })
    await this.#world.sleep(troubleMs)
    this.#isCalm = true
    this.#world.note('world', 'is at peace')
    await Promise.all([...nodes.map((node) => node.up()), ...made])
    await this.#world.sleep(SETTLE_MS)
    await this.#allLeft()
    await this.#lastCalls()
    // The deposits of calls on credit are mined.
    await this.#world.sleep(5_000)
    if (this.#isDrained || this.#isShort) await this.#checkWrittenOff()
    for (const payer of this.#payers) await payer.stop()
    const checks = new FinalChecks({
      world: this.#world,
      scenario: this.#scenario,
      chain: this.#chain,
      owners: this.#owners,
      payers: this.#payers,
      invariants: this.invariants,
      isThrough: (payer) => this.#isThrough(payer)
    })
    await checks.retrievable()
    await this.#settle()
    await checks.books()
    await checks.collected()
    for (const owner of this.#owners) await checks.trimmed(owner)
    for (const owner of this.#owners) await owner.stop()
    checks.chain()
  }

  #node({ name, peer, signer }: (typeof OWNERS)[number], serves: boolean, bug: Bug | undefined): SimNode {
    const { crash, commitMs, rules, redeemAtoms, price, upstreamMs } = this.#scenario
    const [world, invariants] = [this.#world, this.invariants]
    const rng = world.rng.fork()
    const disk = new Disk({
      world,
      name,
      rng: rng.fork(),
      commitMs,
      crashes: () => (this.#isCalm ? 0 : crash),
      dies: () => (this.#isCalm ? undefined : this.#fault?.atCommit()),
      onDurable: (write) => invariants.onDurable(name, write)
    })
    const chain = this.#chain
    const network = this.#network
    const signed = manifestOf(price)
    const order = world.rng.fork()
    const owners = () => {
      if (this.#only !== undefined) return [this.#only]
      const peers = this.#owners.map(({ init }) => init.peer)
      return order.chance(0.5) ? peers : peers.toReversed()
    }
    const isCalm = () => this.#isCalm
    const surroundings = { world, rng, disk, chain, network, invariants, isCalm, bug }
    const onDeath = () => this.deaths++
    return new SimNode({
      ...surroundings,
      name,
      peer,
      signer,
      rules,
      redeemAtoms,
      signed,
      owners,
      serves,
      upstreamMs,
      onDeath
    })
  }

  #cut(at: number, peer: string, forMs: number): void {
    void this.#world.after(at, () => {
      this.#world.note('link', `of ${peer.slice(-1)} is cut`)
      this.#network.sever(peer)
    })
    void this.#world.after(at + forMs, () => this.#network.mend(peer))
  }

  get #isAway(): boolean {
    const { outage } = this.#scenario
    return outage !== undefined && this.#world.now >= outage.at && this.#world.now < outage.at + outage.forMs
  }

  /**
   * Makes a planned call. A call is repeated manually only if it can go to just one owner, because nothing fences it between two.
   */
  async #use({ payer, timeoutMs, isRepeated }: PlannedCall): Promise<void> {
    const node = this.#payers[payer] as SimNode
    const running = await node.up()
    const requestId = running.ids.next()
    if (await this.#call(node, running, requestId, timeoutMs)) return
    if (!isRepeated || running.life.isDead || this.#owners.length > 1) return
    this.invariants.fateOf(idOf(requestId)).isByHand = true
    await this.#call(node, running, requestId, timeoutMs)
  }

  /** One call by an application at the payer's node. Returns whether it succeeded. */
  async #call({ init }: SimNode, running: Running, requestId: Uint8Array, timeoutMs: number): Promise<boolean> {
    const id = idOf(requestId)
    const { name, signed } = init
    this.#world.note(name, `calls ${id.slice(-6)}`)
    const died = new Promise<undefined>((resolve) => running.life.onDeath(() => resolve(undefined)))
    // A signal of its own: calls of a killed process never end, and listeners on a shared signal would keep their whole run in memory.
    const { signal } = new AbortController()
    const made = running.consumer
      .call({ api: signed.id, body: { id }, requestId, timeoutMs, signal })
      .catch((error: unknown) => asSoukError(error))
    const reply = await Promise.race([made, died])
    if (reply === undefined) return false
    if (reply instanceof Error) {
      this.#world.note(name, `hears of ${id.slice(-6)}: ${reply.code}`)
      return false
    }
    const body = text(reply.body as Uint8Array)
    this.#world.note(name, `has ${id.slice(-6)}: ${reply.status} for ${reply.charged}`)
    this.invariants.onDelivered(id, reply.charged, body, signed.manifest.price)
    this.invariants.must(body === answerTo(id), `${id} was answered with another call's response`)
    return reply.status === 200
  }

  async #leave(how: Leave['how']): Promise<void> {
    const node = this.#payers[0] as SimNode
    const { name, signer } = node.init
    const { paymentScheme } = await node.up()
    for (const [id, seen] of this.invariants.channels) {
      const { balance, claimed } = channelOf(this.#chain.head, id)
      if (seen.payer !== name || balance === claimed) continue
      this.#world.note(name, `${how}: ${balance - claimed} of ${id.slice(0, 8)}`)
      this.#left.add(id)
      if (how === 'deserts') this.#chain.send(signer.address, calls.initiateWithdraw(seen.config, balance - claimed))
      else ask(paymentScheme, how, id)
    }
  }

  #drain({ payer, at, backAt }: NonNullable<Scenario['drain']>): void {
    const { address } = (this.#payers[payer] as SimNode).init.signer
    const move = (from: Address, to: Address): boolean => {
      const amount = this.#chain.head.usdc.get(from) ?? 0n
      this.#world.note('world', `moves ${amount} from ${from.slice(0, 8)}`)
      if (amount > 0n) this.#chain.send(from, transferOf(to, amount))
      return amount > 0n
    }
    // The chain may be slow, and may lose the first transfer.
    const bringBack = (tries: number): void => {
      if (!move(THIEF, address) && tries > 0) void this.#world.after(BACK_MS, () => bringBack(tries - 1))
    }
    void this.#world.after(at, () => move(address, THIEF))
    if (backAt !== undefined) void this.#world.after(backAt, () => bringBack(BACK_TRIES))
  }

  /** True if a payer took its money away, and the chain does not show enough of it for a deposit. */
  get #isDrained(): boolean {
    const { drain, rules } = this.#scenario
    if (drain === undefined) return false
    const { address } = (this.#payers[drain.payer] as SimNode).init.signer
    return (this.#chain.head.usdc.get(address) ?? 0n) < (rules.deposit ?? 1n)
  }

  /** True if a channel holds less than its owner captured: on credit, or before a reorganisation. */
  get #isShort(): boolean {
    return [...this.invariants.channels].some(
      ([id, { captured }]) => channelOf(this.#chain.head, id).balance < captured
    )
  }

  /** After deposits have expired, no payer's books show a channel with less than nothing. */
  async #checkWrittenOff(): Promise<void> {
    await this.#world.sleep(DEPOSIT_VALID_MS + 5 * 60_000)
    for (const { running } of this.#owners) await running?.paymentScheme.settlement.bookkeeper.look()
    for (const { init } of this.#payers) {
      for (const { account, amount } of await init.disk.state.ledger.balances('channel/')) {
        this.invariants.must(amount >= 0n, `${init.name} has ${amount} in ${account}`)
      }
    }
  }

  /** True if the node's calls have ended, because its state is unknown or slow to recover. */
  #hasLeft(payer: SimNode): boolean {
    const { leave, drain } = this.#scenario
    if (this.#isDrained && drain !== undefined && payer === this.#payers[drain.payer]) return true
    return leave !== undefined && leave.how !== 'closes' && payer === this.#payers[0]
  }

  /** Every requested withdrawal has completed, with all unearned money. */
  async #allLeft(): Promise<void> {
    if (this.#scenario.leave?.how === 'deserts') return this.#desert()
    // If a node died before it saved the request, the request is repeated.
    const running = await this.#payers[0]?.up()
    for (const id of this.#left) if (running !== undefined) ask(running.paymentScheme, this.#scenario.leave?.how, id)
    const until = this.#world.now + LEFT_MS
    for (let left = this.#stillIn(); left.length > 0; left = this.#stillIn()) {
      this.invariants.must(this.#world.now < until, `who wanted out is still in: ${left.join(', ')}`)
      await this.#world.sleep(5_000)
    }
  }

  /** The channels to be left that still hold money, on the chain or by their node's state. */
  #stillIn(): string[] {
    const known = this.#payers[0]?.running?.paymentScheme.channels() ?? []
    return [...this.#left].flatMap((id) => {
      const { balance, claimed } = channelOf(this.#chain.head, id)
      const state = known.find(({ role, channelId }) => role === 'payer' && channelId === id)?.state
      return balance === claimed && state === 'closed' ? [] : [`${balance - claimed} of ${id} (${state})`]
    })
  }

  async #desert(): Promise<void> {
    await this.#world.sleep(WITHDRAW_DELAY_S * 1_000)
    const { address } = (this.#payers[0] as SimNode).init.signer
    for (const id of this.#left) {
      const config = this.invariants.channels.get(id)?.config
      if (config !== undefined) this.#chain.send(address, calls.finalizeWithdraw(config))
    }
    await this.#world.sleep(20_000)
  }

  /** A payer that reached the daily cap cannot sign, so it is skipped. */
  #isThrough(payer: SimNode): boolean {
    return this.#hasLeft(payer) || this.#scenario.isCapped
  }

  /** After recovery, every owner can be paid again and reports its books. */
  async #lastCalls(): Promise<void> {
    for (const payer of this.#payers) {
      for (const owner of this.#owners) {
        // The call to the owner before may have taken the last deposit of a drained wallet.
        if (this.#isThrough(payer)) break
        this.#only = owner.init.peer
        let tries = 1
        // A deposit that empties a drained wallet is mined after its call.
        while (!(await this.#lastCall(payer)) && !this.#isThrough(payer)) {
          this.invariants.must(tries++ < LAST_TRIES, `${payer.init.name} cannot call ${owner.init.name} any more`)
          await this.#world.sleep(2_500)
        }
      }
    }
  }

  async #lastCall(payer: SimNode): Promise<boolean> {
    const running = await payer.up()
    return this.#call(payer, running, running.ids.next(), 20_000)
  }

  /** Claims all earnings, after departing payers have paid. */
  async #settle(): Promise<void> {
    for (const { running } of this.#owners) await running?.paymentScheme.settlement.redeemer.settleNow()
    await this.#world.sleep(20_000)
  }
}
