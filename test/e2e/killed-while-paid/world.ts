import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { apiId, createNode, keySigner, parseUsdc, type SoukNode } from '../../../lib/index.ts'
import { createChain } from '../../../lib/pay/index.ts'
import type { ErrorCode } from '../../../lib/base/errors.ts'
import { type DevChain, startDevChain } from '../../../node/demo/chain/dev-chain.ts'
import { actor } from '../../helpers/chain.ts'
import type { PlannedCall, Round, VictimName } from './plan.ts'
import type { CallArgs, CallResult, ConsumerArgs } from './roles/consumer.ts'
import { identityOf, secretOf } from './roles/identity.ts'
import type { NodeInfo, OwnerArgs } from './roles/owner.ts'
import { Streams } from './streams.ts'
import { type CountingUpstream, countingUpstream } from './upstream.ts'
import { Victim } from './victim.ts'

const PRICE = '0.001003'
export const PRICE_ATOMS = parseUsdc(PRICE)
const EVENT_PRICE = '0.000101'
export const EVENT_ATOMS = parseUsdc(EVENT_PRICE)
export const EVENTS_INCLUDED = 2
/** The number of concurrent streams. */
const STREAMS = 3
export const WALLET_ATOMS = 50_000_000n

/** The final result of a call. */
export type Told =
  | { readonly kind: 'answered'; readonly status: number; readonly charged: bigint; readonly echoed: unknown }
  /** The call was not charged and never will be. */
  | { readonly kind: 'interrupted'; readonly why: string }

/** Errors after which the owner has not accepted the call, so it may be sent again as new. */
const NOT_TAKEN: ReadonlySet<ErrorCode> = new Set([
  'owner_unreachable',
  'api_not_found',
  'api_paused',
  'lookup_timeout',
  'overloaded',
  'payment_required',
  'insufficient_funds',
  'spend_cap_reached',
  'settlement_pending',
  'settlement_unavailable'
])
const RETRY_MS = 500
/** Time limit of a call including its repeats. */
const CALL_ENDS_MS = 120_000

interface Surroundings {
  readonly directory: string
  readonly database: string | undefined
  readonly chain: DevChain
  readonly upstream: CountingUpstream
  readonly hub: SoukNode
  /** Public key of the provider. */
  readonly provider: string
}

/** Owner and consumer as processes, with a chain, an upstream and a third node that are never killed. */
export class World {
  readonly told = new Map<string, Told>()
  /** The number of attempts by result, for the report. */
  readonly heard = new Map<string, number>()
  readonly chain: DevChain
  readonly upstream: CountingUpstream
  readonly owner: Victim<NodeInfo>
  readonly consumer: Victim<NodeInfo>
  readonly streams: Streams
  readonly payout = actor('provider of killed').address.toLowerCase() as `0x${string}`
  readonly #directory: string
  readonly #database: string | undefined
  readonly #hub: SoukNode
  #isClosed = false

  private constructor({ directory, database, chain, upstream, hub, provider }: Surroundings) {
    this.#directory = directory
    this.#database = database
    this.chain = chain
    this.upstream = upstream
    this.#hub = hub
    const { parameters } = chain
    const role = (name: string) => new URL(`roles/${name}.ts`, import.meta.url)
    const bootstrap = (neighbour: Victim<NodeInfo>) => [
      ...hub.libp2p.getMultiaddrs().map(String),
      ...(neighbour.info?.addresses ?? [])
    ]
    this.owner = new Victim<NodeInfo>({
      name: 'owner',
      role: role('owner'),
      args: (): OwnerArgs => ({
        place: this.placeOf('owner'),
        bootstrap: bootstrap(this.consumer),
        parameters,
        payout: this.payout,
        price: PRICE,
        endpoint: upstream.url,
        streams: { endpoint: upstream.ticksUrl, pricePerEvent: EVENT_PRICE, eventsIncluded: EVENTS_INCLUDED }
      })
    })
    this.consumer = new Victim<NodeInfo>({
      name: 'consumer',
      role: role('consumer'),
      args: (): ConsumerArgs => ({
        place: this.placeOf('consumer'),
        bootstrap: bootstrap(this.owner),
        parameters,
        api: apiId('paid', provider)
      })
    })
    this.streams = new Streams({
      consumer: this.consumer,
      api: apiId('ticks', provider),
      diary: join(directory, 'events-read'),
      included: EVENTS_INCLUDED
    })
  }

  /** @param database URL of the owner's PostgreSQL database. Default: SQLite, like the consumer. */
  static async create(calls: Iterable<PlannedCall>, database?: string): Promise<World> {
    const behaviours = new Map(Array.from(calls, ({ id, behaviour }) => [id, behaviour]))
    const chain = await startDevChain()
    const directory = mkdtempSync(join(tmpdir(), 'souk-killed-'))
    const upstream = await countingUpstream((id) => behaviours.get(id) ?? { delayMs: 0, status: 200 })
    const hub = await createNode({ network: 'killed' })
    await hub.start()
    const provider = (await identityOf('owner')).publicKey.toString()
    const world = new World({ directory, database, chain, upstream, hub, provider })
    await chain.fundGas(world.signers.owner.address)
    await chain.mint(world.signers.consumer.address, WALLET_ATOMS)
    return world
  }

  readonly signers = { owner: keySigner(secretOf('owner')), consumer: keySigner(secretOf('consumer')) }

  /** The place of its store: a file path, or the URL of a database. */
  placeOf(name: VictimName): string {
    return (name === 'owner' ? this.#database : undefined) ?? join(this.#directory, name, 'souk.db')
  }

  usdc(account: `0x${string}`): Promise<bigint> {
    return createChain(this.chain.parameters).balance(account, 'latest')
  }

  /** Runs all callers and streams concurrently, with the kills among them. Resolves when all calls and streams have ended. */
  async play({ callers, kills }: Round): Promise<void> {
    this.upstream.tick(true)
    await this.streams.start(STREAMS)
    const over = Promise.withResolvers<void>()
    const killing = kills.map(async ({ victim, answered, thenMs }) => {
      // If the round ends with fewer responses, the kill comes at its end.
      await Promise.race([this.upstream.answered(answered), over.promise])
      await pause(thenMs)
      await this[victim].kill()
    })
    const calling = callers.map((calls) => this.#drive(calls))
    await Promise.all(calling).finally(over.resolve)
    await Promise.all(killing)
    this.upstream.tick(false)
    await this.streams.stop()
  }

  /** Makes one call, outside of a round and its kills. */
  call(id: string): Promise<Told> {
    return this.#tell(id)
  }

  /** Stops both processes gracefully, so that all their data is on disk. */
  async stop(): Promise<void> {
    await this.consumer.stop()
    await this.owner.stop()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    void this.streams.stop()
    await Promise.all([this.consumer.kill(), this.owner.kill()])
    await this.stop()
    await this.#hub.stop()
    await this.upstream.close()
    await this.chain.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #drive(calls: readonly PlannedCall[]): Promise<void> {
    for (const { id } of calls) if ((await this.#tell(id)).kind === 'answered') return
  }

  /** Sends a call, and repeats it with the same id until the outcome is known. */
  async #tell(id: string): Promise<Told> {
    const told = await this.#ended(id)
    this.told.set(id, told)
    return told
  }

  async #ended(id: string): Promise<Told> {
    const end = performance.now() + CALL_ENDS_MS
    let mayHaveRun = false
    let last = 'nothing'
    while (performance.now() < end && !this.#isClosed) {
      const result = await this.#ask(id, mayHaveRun)
      last = JSON.stringify(result)
      const what =
        'killed' in result ? 'killed' : 'code' in result ? `${result.code}: ${result.detail}` : String(result.status)
      this.heard.set(what, (this.heard.get(what) ?? 0) + 1)
      if ('status' in result) {
        const { status, charged, echoed } = result
        return { kind: 'answered', status, charged: BigInt(charged), echoed }
      }
      if ('code' in result && result.code === 'call_interrupted' && mayHaveRun) {
        return { kind: 'interrupted', why: result.detail }
      }
      mayHaveRun ||= 'killed' in result || !NOT_TAKEN.has(result.code)
      await pause(RETRY_MS)
    }
    throw new Error(`call ${id} has no outcome; the last result was ${last}`)
  }

  async #ask(id: string, mayHaveRun: boolean): Promise<CallResult | { readonly killed: true }> {
    const consumer = await this.consumer.life
    const sentTo = mayHaveRun ? this.owner.info?.peer : undefined
    const args: CallArgs = { id, ...(sentTo === undefined ? {} : { sentTo }) }
    return consumer.ask<CallResult>('call', args).catch(() => ({ killed: true }) as const)
  }
}
