import { type Atoms, formatRequestId, limits, requestIds, type SoukError } from '../../lib/index.ts'
import type { Clock, Documents, Fencing, Ledger, Random } from '../../lib/interface/index.ts'
import { ACCOUNTS, balanceOf, leasedTo, moved, readLease } from './account-ledger.ts'

export interface LeasesInit {
  readonly documents: Documents
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  /** Name of this process, kept across restarts so that it returns its own old leases. Must be unique. */
  readonly holder: string
  /** Blocks writes of processes that were taken for dead. Absent if one process uses the store alone. */
  readonly fencing?: Fencing
  /** As `Store.refusal`: leases are neither taken nor returned meanwhile. Default: never refuses. */
  readonly refusal?: () => SoukError | undefined
}

/** By holder: a text that changes with each of its heartbeats. Earlier versions read it as the time until which the holder is alive. */
const HOLDERS = 'lease-holders'
/** By holder: its writer id for `Fencing.fence`. */
const WRITERS = 'lease-writers'

interface Seen {
  readonly row: string
  readonly since: number
}

/**
 * Leases on balances, from which a process reserves without further queries. Each lease is a ledger account that one process draws on, and
 * the ledger refuses overdrafts. If a process dies, its unspent leases return to their balances at its next start, or when another process
 * finds it silent for too long. A process that was wrongly taken for dead finds its leases empty and can charge nothing to them.
 */
export class Leases {
  readonly #init: LeasesInit
  readonly #ids: ReturnType<typeof requestIds>
  /** On the clock’s `elapsed`. */
  #listedUntil = -Infinity
  readonly #onListed = new Set<() => void>()
  #deafen: (() => void) | undefined
  #timer: { cancel(): void } | undefined
  /** By other holder: its row, and when this process first read it, on the clock’s `elapsed`. Clocks of machines differ. */
  #seen: ReadonlyMap<string, Seen> = new Map()
  #beating: Promise<void> = Promise.resolve()

  constructor(init: LeasesInit) {
    this.#init = init
    this.#ids = requestIds(init.clock, init.random)
  }

  /** Returns the leases of an earlier process of this name, then announces this one as alive. */
  async start(): Promise<void> {
    // An earlier process of this name may still run elsewhere.
    await this.#fence(this.#init.holder)
    await this.#reclaim(new Set([this.#init.holder]))
    await this.#beat()
    this.#beatLater()
    this.#deafen = this.#init.fencing?.onFenced(() => {
      // Announce at once, so that other processes wait for this one again.
      this.#listedUntil = -Infinity
      this.#beatNow()
    })
  }

  /** Whether every caller of `holders` now sees this process. */
  get isListed(): boolean {
    return this.#init.clock.elapsed() < this.#listedUntil
  }

  /** All processes that may be alive, including this one. */
  async holders(): Promise<readonly string[]> {
    return (await this.#init.documents.list(HOLDERS)).map(({ key }) => key)
  }

  /** Calls `hear` when this process is listed again after a gap. Returns a function that stops that. */
  onListed(hear: () => void): () => void {
    this.#onListed.add(hear)
    return () => void this.#onListed.delete(hear)
  }

  /** Requires that all leases were returned. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#deafen?.()
    await this.#beating
    this.#listedUntil = -Infinity
    const { documents, holder } = this.#init
    // Without the store, this process counts as dead after a while, like a killed one.
    if (this.#init.refusal?.() !== undefined) return
    await documents.delete(HOLDERS, holder)
    await documents.delete(WRITERS, holder)
  }

  /** Durable when it resolves. Returns false if the balance is too low. */
  async take(account: string, amount: Atoms): Promise<boolean> {
    this.#check()
    const { ledger, clock, holder } = this.#init
    const [from, to] = [balanceOf(account), leasedTo(account, holder)]
    const event = { kind: 'lease', reference: this.#next(), at: clock.now() }
    return (await ledger.draw(moved(event, amount, from, to), from)) === 'booked'
  }

  /** Durable when it resolves. Returns false if the lease no longer belongs to this process. */
  giveBack(account: string, amount: Atoms): Promise<boolean> {
    return this.#giveBack(account, this.#init.holder, amount)
  }

  /** Fail fast: the ledger itself would wait for an unreachable database. */
  #check(): void {
    const refusal = this.#init.refusal?.()
    if (refusal !== undefined) throw refusal
  }

  async #giveBack(account: string, holder: string, amount: Atoms): Promise<boolean> {
    this.#check()
    const { ledger, clock } = this.#init
    const [from, to] = [leasedTo(account, holder), balanceOf(account)]
    const event = { kind: 'unlease', reference: this.#next(), at: clock.now() }
    return (await ledger.draw(moved(event, amount, from, to), from)) === 'booked'
  }

  #next(): string {
    return formatRequestId(this.#ids.next())
  }

  #beatLater(): void {
    this.#timer = this.#init.clock.after(limits.HOLDER_BEAT_MS, () => {
      this.#beatNow()
      this.#beatLater()
    })
  }

  /** Ignores errors: the store reports its own failures. */
  #beatNow(): void {
    this.#beating = this.#beating.then(() => this.#beat()).catch(() => {})
  }

  async #beat(): Promise<void> {
    const { documents, clock, holder, fencing } = this.#init
    const startedAt = clock.elapsed()
    if (fencing !== undefined) await documents.put(WRITERS, holder, JSON.stringify(fencing.id))
    await documents.put(HOLDERS, holder, String(clock.now() + limits.HOLDER_MS))
    const wasListed = this.isListed
    this.#listedUntil = startedAt + limits.HOLDER_MS / 2
    if (!wasListed) {
      // After an outage, all are late.
      this.#seen = new Map()
      for (const hear of this.#onListed) hear()
    }
    const dead = await this.#silent(startedAt)
    if (dead.length === 0) return
    for (const key of dead) await this.#fence(key)
    await this.#reclaim(new Set(dead))
    for (const key of dead) await documents.delete(HOLDERS, key)
  }

  /** The other holders whose row has not changed for `HOLDER_MS`. */
  async #silent(at: number): Promise<readonly string[]> {
    const { documents, clock, holder } = this.#init
    const others = (await documents.list(HOLDERS)).filter(({ key }) => key !== holder)
    const now = clock.elapsed()
    const seenBefore = this.#seen
    this.#seen = new Map(
      others.map(({ key, value: row }) => {
        const before = seenBefore.get(key)
        return [key, before?.row === row ? before : { row, since: now }]
      })
    )
    return [...this.#seen].filter(([, { since }]) => at - since > limits.HOLDER_MS).map(([key]) => key)
  }

  /** Called first: later writes of the fenced process must fail. */
  async #fence(holder: string): Promise<void> {
    const { documents, fencing } = this.#init
    const id = await documents.get(WRITERS, holder)
    if (fencing === undefined || id === undefined) return
    await fencing.fence(JSON.parse(id) as string)
    await documents.delete(WRITERS, holder)
  }

  /** Returns the leases of the holders one by one. If a holder still charges, retries with the remaining amount. */
  async #reclaim(holders: ReadonlySet<string>): Promise<void> {
    for (const { account: name } of await this.#init.ledger.balances(ACCOUNTS)) {
      const lease = readLease(name)
      if (lease === undefined || !holders.has(lease.holder)) continue
      for (;;) {
        const left = -(await this.#init.ledger.balance(name))
        if (left <= 0n || (await this.#giveBack(lease.account, lease.holder, left))) break
      }
    }
  }
}
