import type { DocumentPut, Entry } from '../../lib/interface/ledger.ts'
import type { CallEffects, CallRecord, Claim, Store, TrimRules } from '../../lib/interface/store.ts'
import { withUnknownCharge } from '../../lib/base/errors.ts'
import { storeFailed, storeNotOpen } from '../../lib/store/commit-queue.ts'
import { createMemoryStore } from '../../lib/store/memory/store.ts'
import type { Life } from './life.ts'
import type { Rng } from './rng.ts'
import type { World } from './world.ts'

/** One atomic write on disk. */
export type Write =
  | { readonly kind: 'append'; readonly record: CallRecord; readonly effects: CallEffects }
  | { readonly kind: 'take'; readonly claim: Claim; readonly expired: number }
  | { readonly kind: 'put claim'; readonly claim: Claim }
  | { readonly kind: 'free'; readonly name: Uint8Array }
  | { readonly kind: 'drop claims'; readonly before: number; readonly most: number }
  | { readonly kind: 'acknowledge'; readonly peer: string; readonly requestIds: readonly Uint8Array[] }
  | { readonly kind: 'drop'; readonly before: number }
  | ({ readonly kind: 'put' | 'insert' } & DocumentPut)
  | ({ readonly kind: 'replace'; readonly before: string } & DocumentPut)
  | { readonly kind: 'delete'; readonly collection: string; readonly key: string }
  | { readonly kind: 'put all'; readonly documents: readonly DocumentPut[] }
  | { readonly kind: 'trim documents'; readonly collection: string; readonly before: string; readonly limit: number }
  | { readonly kind: 'sweep'; readonly now: number; readonly limit: number }
  | { readonly kind: 'trim'; readonly rules: TrimRules }
  | {
      readonly kind: 'book'
      readonly entry: Entry
      readonly documents: readonly DocumentPut[]
      /** The account and amount of a draw. */
      readonly account?: string
    }

/** Outcomes of a commit during which the process dies: nothing, everything, a part, or everything without a result is kept. */
const FATES = ['before', 'after', 'within', 'unknown'] as const

interface Waiting {
  readonly write: Write
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The results of writes, in order. Each caller waits for its own. */
interface Results {
  readonly results: ReadonlyArray<Promise<unknown>>
}

export interface DiskInit {
  readonly world: World
  readonly name: string
  readonly rng: Rng
  /** The maximum duration of a commit. 0 blocks the process, as SQLite does. */
  readonly commitMs: number
  /** The probability that a process dies at a commit. */
  readonly crashes: () => number
  /** Called at each commit: decides whether its process dies there, in addition to `crashes`. */
  readonly dies?: () => 'before' | 'after' | 'unknown' | undefined
  /** Called with every durable write. */
  readonly onDurable: (write: Write) => void
}

/**
 * A node's disk, which survives its processes. Writes of one turn are one commit. A commit without a result may have survived or
 * not, and so may a failed one.
 */
export class Disk {
  readonly #init: DiskInit
  #log: Write[][] = []
  #state = openStore()

  constructor(init: DiskInit) {
    this.#init = init
  }

  /** The content after a crash at this moment. */
  get state(): Store {
    return this.#state
  }

  /** The store of one process. `onFailure` must stop the process. */
  mount(life: Life, onFailure: () => void): Store {
    const session = new Session(this.#init, life, onFailure, (writes) => this.#apply(writes))
    return session.store(() => this.#state)
  }

  /** Removes the last commit although it was reported durable. Only for planted bugs. */
  loseLastCommit(): void {
    const log = this.#log.slice(0, -1)
    this.#log = []
    this.#state = openStore()
    for (const writes of log) void this.#commit(writes)
  }

  #apply(writes: readonly Write[]): Results {
    const results = this.#commit(writes)
    for (const write of writes) this.#init.onDurable(write)
    return results
  }

  #commit(writes: readonly Write[]): Results {
    this.#log.push([...writes])
    const results = writes.map((write) => perform(this.#state, write))
    // The callers get the results; a dead process does not.
    for (const result of results) result.catch(() => {})
    return { results }
  }
}

class Session {
  readonly #init: DiskInit
  readonly #life: Life
  readonly #onFailure: () => void
  readonly #apply: (writes: readonly Write[]) => Results
  #waiting: Waiting[] = []
  #underWay: Waiting[] = []
  #isBusy = false
  #isOpen = false
  #hasFailed = false

  constructor(init: DiskInit, life: Life, onFailure: () => void, apply: (writes: readonly Write[]) => Results) {
    this.#init = init
    this.#life = life
    this.#onFailure = onFailure
    this.#apply = apply
    life.onDeath(() => this.#die())
  }

  store(state: () => Store): Store {
    const read = async <T>(ask: (store: Store) => Promise<T>): Promise<T> => {
      this.#check()
      // The process may be dead before the read returns.
      return this.#life.isDead ? new Promise<never>(() => {}) : ask(state())
    }
    const write = <T>(write: Write) => this.#write(write) as Promise<T>
    return {
      calls: {
        append: (record, effects = {}) => write({ kind: 'append', record, effects }),
        find: (peer, requestId) => read((store) => store.calls.find(peer, requestId)),
        acknowledge: (peer, requestIds) => {
          if (this.#isOpen && !this.#hasFailed) void write({ kind: 'acknowledge', peer, requestIds }).catch(() => {})
        },
        recent: (query) => read((store) => store.calls.recent(query)),
        usage: () => read((store) => store.calls.usage()),
        dropResponses: (before) => write({ kind: 'drop', before })
      },
      claims: {
        take: (claim, expired) => write({ kind: 'take', claim, expired }),
        put: (claim) => write({ kind: 'put claim', claim }),
        free: (name) => write({ kind: 'free', name }),
        drop: (before, most) => write({ kind: 'drop claims', before, most })
      },
      documents: {
        get: (collection, key) => read((store) => store.documents.get(collection, key)),
        put: (collection, key, value) => write({ kind: 'put', collection, key, value }),
        insert: (collection, key, value) => write({ kind: 'insert', collection, key, value }),
        replace: (collection, key, before, value) => write({ kind: 'replace', collection, key, before, value }),
        delete: (collection, key) => write({ kind: 'delete', collection, key }),
        last: (collection, query) => read((store) => store.documents.last(collection, query)),
        list: (collection) => read((store) => store.documents.list(collection)),
        putAll: (documents) => write({ kind: 'put all', documents }),
        trim: (collection, before, limit) => write({ kind: 'trim documents', collection, before, limit }),
        sweep: (now, limit) => write({ kind: 'sweep', now, limit })
      },
      retention: { trim: (rules) => write({ kind: 'trim', rules }) },
      ledger: {
        book: (entry, documents = []) => write({ kind: 'book', entry, documents }),
        draw: (entry, account, documents = []) => write({ kind: 'book', entry, documents, account }),
        balance: (account) => read((store) => store.ledger.balance(account)),
        balances: (prefix) => read((store) => store.ledger.balances(prefix)),
        carried: (prefix) => read((store) => store.ledger.carried(prefix)),
        entries: (query) => read((store) => store.ledger.entries(query))
      },
      // Irrelevant to money, so not simulated.
      get listings() {
        return state().listings
      },
      backUp: (path) => read((store) => store.backUp(path)),
      open: async () => {
        this.#isOpen = true
      },
      close: async () => {
        while (this.#waiting.length > 0 || this.#isBusy) await this.#init.world.sleep(1)
        this.#isOpen = false
      }
    }
  }

  #check(): void {
    if (!this.#isOpen) throw storeNotOpen()
    if (this.#hasFailed) throw storeFailed()
  }

  async #write(write: Write): Promise<unknown> {
    this.#check()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject })
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isBusy || this.#life.isDead) return
    this.#isBusy = true
    const { world, rng, commitMs } = this.#init
    // All writes of this turn share the commit; later ones wait for the next.
    void world.after(0, () => {
      this.#underWay = this.#waiting
      this.#waiting = []
      if (commitMs === 0) this.#finish()
      else void world.after(rng.between(1, commitMs), () => this.#finish())
    })
  }

  #finish(): void {
    if (this.#life.isDead) return
    const { rng, crashes, dies, world, name } = this.#init
    const batch = this.#underWay
    this.#isBusy = false
    const fate = dies?.() ?? (rng.chance(crashes()) ? rng.pick(FATES) : undefined)
    if (fate !== undefined) {
      world.note(name, `dies at a commit of ${batch.length}: ${fate}`)
      this.#underWay = []
      if (fate === 'within') this.#apply(batch.slice(0, rng.between(0, batch.length)).map(({ write }) => write))
      if (fate === 'after' || (fate === 'unknown' && rng.chance(0.5))) this.#apply(batch.map(({ write }) => write))
      if (fate === 'unknown') this.#fail(batch)
      else this.#life.kill()
      return
    }
    this.#underWay = []
    const { results } = this.#apply(batch.map(({ write }) => write))
    for (const [i, { resolve }] of batch.entries()) resolve(results[i])
    if (this.#waiting.length > 0) this.#schedule()
  }

  /** The database failed, and the outcome is unknown. */
  #fail(batch: readonly Waiting[]): void {
    this.#hasFailed = true
    const unbegun = this.#waiting
    this.#waiting = []
    for (const { reject } of batch) reject(withUnknownCharge(storeFailed()))
    for (const { reject } of unbegun) reject(storeFailed())
    this.#onFailure()
  }

  /** The process died during a commit. */
  #die(): void {
    if (this.#underWay.length > 0 && this.#init.rng.chance(0.5)) this.#apply(this.#underWay.map(({ write }) => write))
    this.#underWay = []
  }
}

async function perform({ calls, claims, documents, ledger, retention }: Store, write: Write): Promise<unknown> {
  switch (write.kind) {
    case 'append':
      return calls.append(write.record, write.effects)
    case 'acknowledge':
      return calls.acknowledge(write.peer, write.requestIds)
    case 'take':
      return claims.take(write.claim, write.expired)
    case 'put claim':
      return claims.put(write.claim)
    case 'free':
      return claims.free(write.name)
    case 'drop claims':
      return claims.drop(write.before, write.most)
    case 'drop':
      return calls.dropResponses(write.before)
    case 'put':
      return documents.put(write.collection, write.key, write.value)
    case 'put all':
      return documents.putAll(write.documents)
    case 'trim documents':
      return documents.trim(write.collection, write.before, write.limit)
    case 'sweep':
      return documents.sweep(write.now, write.limit)
    case 'trim':
      return retention.trim(write.rules)
    case 'insert':
      return documents.insert(write.collection, write.key, write.value)
    case 'replace':
      return documents.replace(write.collection, write.key, write.before, write.value)
    case 'delete':
      return documents.delete(write.collection, write.key)
    default:
      return write.account === undefined
        ? ledger.book(write.entry, write.documents)
        : ledger.draw(write.entry, write.account, write.documents)
  }
}

function openStore(): Store {
  const store = createMemoryStore()
  void store.open()
  return store
}
