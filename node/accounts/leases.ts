import { type Atoms, formatRequestId, limits, requestIds, type SoukError } from '../../lib/index.ts'
import type { Clock, Documents, Fencing, Ledger, Random } from '../../lib/interface/index.ts'
import { ACCOUNTS, balanceOf, leasedTo, moved, readLease } from './account-ledger.ts'

export interface LeasesInit {
  readonly documents: Documents
  readonly ledger: Ledger
  readonly clock: Clock
  readonly random: Random
  /** This process, over restarts: what it held before is its own to give back. No two may run under one name. */
  readonly holder: string
  /** Keeps those that are taken for dead from writing. Absent where one process has the store for itself. */
  readonly fencing?: Fencing
  /** As `Store.refusal`: leases are neither taken nor given back meanwhile. Default: they always are. */
  readonly refusal?: () => SoukError | undefined
}

/** By holder: until when it counts as alive. */
const HOLDERS = 'lease-holders'
/** By holder: its id for `Fencing.fence`. */
const WRITERS = 'lease-writers'

/**
 * Parts of balances that were given to a process, so that it can promise them without asking anybody. Each is an account of
 * the ledger, drawn on by one process, and every draw is refused where it is not covered. So nothing is lost with a process:
 * what it had not charged goes back to the balances it came from, at its next start, or by any other process once it has not
 * been heard of for a while. Should it live all the same, it finds its leases empty and can charge nothing to them.
 */
export class Leases {
  readonly #init: LeasesInit
  readonly #ids: ReturnType<typeof requestIds>
  /** On the clock's `elapsed`. */
  #listedUntil = -Infinity
  readonly #onListed = new Set<() => void>()
  #deafen: (() => void) | undefined
  #timer: { cancel(): void } | undefined
  /** On the clock's `elapsed`: nobody is taken for dead before, as after an outage all processes are late alike. */
  #patientUntil = -Infinity
  #hasBeaten = false
  #beating: Promise<void> = Promise.resolve()

  constructor(init: LeasesInit) {
    this.#init = init
    this.#ids = requestIds(init.clock, init.random)
  }

  /** Gives back what an earlier process of this name left, and says from then on that this one is alive. */
  async start(): Promise<void> {
    // An earlier process of this name may still run somewhere.
    await this.#fence(this.#init.holder)
    await this.#reclaim(new Set([this.#init.holder]))
    await this.#beat()
    this.#beatLater()
    this.#deafen = this.#init.fencing?.onFenced(() => {
      // At once, so that others wait for it again.
      this.#listedUntil = -Infinity
      this.#beatNow()
    })
  }

  /** Whoever asks for the `holders` now is sure to find this process: with clocks that differ by half of `HOLDER_MS` as well. */
  get isListed(): boolean {
    return this.#init.clock.elapsed() < this.#listedUntil
  }

  /** All that may be alive, this one with them. */
  async holders(): Promise<readonly string[]> {
    return (await this.#init.documents.list(HOLDERS)).map(({ key }) => key)
  }

  /** `hear` is told when this process is listed after it was not. Returns what ends that. */
  onListed(hear: () => void): () => void {
    this.#onListed.add(hear)
    return () => void this.#onListed.delete(hear)
  }

  /** Everything was given back. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#deafen?.()
    await this.#beating
    this.#listedUntil = -Infinity
    const { documents, holder } = this.#init
    // Without the store this process counts as dead after a while, as a killed one does.
    if (this.#init.refusal?.() !== undefined) return
    await documents.delete(HOLDERS, holder)
    await documents.delete(WRITERS, holder)
  }

  /** Durable when it resolves. False where the balance does not cover it. */
  async take(account: string, amount: Atoms): Promise<boolean> {
    this.#check()
    const { ledger, clock, holder } = this.#init
    const [from, to] = [balanceOf(account), leasedTo(account, holder)]
    const event = { kind: 'lease', reference: this.#next(), at: clock.now() }
    return (await ledger.draw(moved(event, amount, from, to), from)) === 'booked'
  }

  /** Durable when it resolves. False where the lease is not ours any more. */
  giveBack(account: string, amount: Atoms): Promise<boolean> {
    return this.#giveBack(account, this.#init.holder, amount)
  }

  /** The ledger itself would wait for a database that is away. */
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

  /** Where the store fails, whoever runs this process is told by the store. */
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
      if (this.#hasBeaten) this.#patientUntil = startedAt + limits.HOLDER_MS
      this.#hasBeaten = true
      for (const hear of this.#onListed) hear()
    }
    if (startedAt < this.#patientUntil) return
    const known = await documents.list(HOLDERS)
    const dead = known.filter(({ value }) => Number(value) < clock.now()).map(({ key }) => key)
    if (dead.length === 0) return
    for (const key of dead) await this.#fence(key)
    await this.#reclaim(new Set(dead))
    for (const key of dead) await documents.delete(HOLDERS, key)
  }

  /** First of all: what it writes from here on, it has to know that it was taken for dead. */
  async #fence(holder: string): Promise<void> {
    const { documents, fencing } = this.#init
    const id = await documents.get(WRITERS, holder)
    if (fencing === undefined || id === undefined) return
    await fencing.fence(JSON.parse(id) as string)
    await documents.delete(WRITERS, holder)
  }

  /** What the holders have, one lease after the other; a holder that still charges is met by trying again with what is left. */
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
