import { type ApiId, boundedMap, limits, parseApiRef, SoukError } from '../../lib/index.ts'
import type { ApiRef, Clock, Documents } from '../../lib/interface/index.ts'
import { ALONE, type Coherence } from '../accounts/coherence.ts'

export interface BindingsInit {
  readonly clock: Clock
  /** Shared by the processes that share accounts. */
  readonly documents: Documents
  /** Peer id of this node. The operator’s subscriptions belong to this node, even if the documents are shared. */
  readonly self: string
  /** Coherence with the processes that share the documents. Default: no other process does. */
  readonly coherence?: Coherence
}

/** The subscription that an account uses for an API. */
export interface Binding {
  readonly api: ApiId
  /** Id of the subscription. */
  readonly subscription: string
  /** End of a canceled subscription, in milliseconds since the epoch. */
  readonly until?: number
}

/** Keyed by account, name and provider, so that bindings of one name are adjacent. */
const COLLECTION = 'subscription-bindings'
/** Stands for the operator’s keys. No account id starts with it. */
const OPERATOR = 'house'

/** Coherence topic. A message is the key prefix of the changed bindings. */
const TOPIC = 'subscription-bindings'

type BindingDocument = Omit<Binding, 'api'>

interface Known {
  readonly bindings: readonly Binding[]
  /** Start of their read, on the clock’s `elapsed`. */
  readonly readAt: number
}

/**
 * Maps an account and an API name to the subscription that its calls use. The binding fixes the provider, so that no other provider of the
 * name is called. An account has one binding per listing, across all processes that share the store.
 */
export class Bindings {
  readonly #clock: Clock
  readonly #documents: Documents
  readonly #operator: string
  readonly #atHand = boundedMap<string, Known>(limits.BINDINGS_CACHED_MAX)
  readonly #coherence: Coherence
  #changes = 0

  constructor({ clock, documents, self, coherence = ALONE }: BindingsInit) {
    this.#clock = clock
    this.#documents = documents
    this.#operator = `${OPERATOR}-${self}`
    this.#coherence = coherence
    coherence.listen(TOPIC, (start) => this.#forget(start))
  }

  /**
   * Immediate for a cached name, and a promise otherwise.
   * @throws SoukError `name_conflict` if the account has subscriptions to several APIs of the name; thrown or rejected
   */
  find(account: string | undefined, ref: ApiRef): Binding | undefined | Promise<Binding | undefined> {
    const start = startOf(account ?? this.#operator, ref.name)
    const known = this.#atHand.get(start)
    const isYoung = known !== undefined && this.#clock.elapsed() - known.readAt < limits.SHARED_FRESH_MS
    const isFresh = isYoung && this.#coherence.mayKeep()
    const choose = (bindings: readonly Binding[]) => chosen(bindings, ref, this.#clock.now())
    return isFresh ? choose(known.bindings) : this.#read(start).then(choose)
  }

  /** The binding for exactly this API, read from the store. */
  async get(account: string | undefined, api: ApiId): Promise<Binding | undefined> {
    const json = await this.#documents.get(COLLECTION, keyOf(account ?? this.#operator, api))
    return json === undefined ? undefined : { api, ...(JSON.parse(json) as BindingDocument) }
  }

  /** Replaces the binding `before`. Returns false if another process changed it meanwhile. */
  async put(account: string | undefined, { api, ...binding }: Binding, before: Binding | undefined): Promise<boolean> {
    const [key, json] = [keyOf(account ?? this.#operator, api), JSON.stringify(binding)]
    const isPut =
      before === undefined
        ? await this.#documents.insert(COLLECTION, key, json)
        : await this.#documents.replace(COLLECTION, key, textOf(before), json)
    await this.changed(account, api)
    return isPut
  }

  async delete(account: string | undefined, api: ApiId): Promise<void> {
    await this.#documents.delete(COLLECTION, keyOf(account ?? this.#operator, api))
    await this.changed(account, api)
  }

  /** Resolves when all processes that share the store use the new binding. */
  async changed(account: string | undefined, api: ApiId): Promise<void> {
    const start = startOf(account ?? this.#operator, parseApiRef(api).name)
    this.#forget(start)
    await this.#coherence.changed(TOPIC, start)
  }

  /** The bindings of one account, by API. */
  list(account: string | undefined): Promise<readonly Binding[]> {
    return this.#startingWith(`${account ?? this.#operator}/`)
  }

  #forget(start: string | undefined): void {
    this.#changes++
    if (start === undefined) this.#atHand.clear()
    else this.#atHand.delete(start)
  }

  async #read(start: string): Promise<readonly Binding[]> {
    const readAt = this.#clock.elapsed()
    let bindings: readonly Binding[] = []
    // Read again after a concurrent change. Otherwise the cache could keep an old binding.
    for (let seen = -1; seen !== this.#changes; ) {
      seen = this.#changes
      bindings = await this.#startingWith(start)
    }
    this.#atHand.set(start, { bindings, readAt })
    return bindings
  }

  async #startingWith(start: string): Promise<readonly Binding[]> {
    const found: Binding[] = []
    // No key contains this last character, so all keys with the prefix sort before it.
    let before = `${start}\u{ffff}`
    for (;;) {
      const rows = await this.#documents.last(COLLECTION, { before, limit: limits.PAGE_MAX })
      for (const { key, value } of rows) {
        if (!key.startsWith(start)) return found.reverse()
        found.push({ api: key.slice(key.indexOf('/') + 1) as ApiId, ...(JSON.parse(value) as BindingDocument) })
        before = key
      }
      if (rows.length < limits.PAGE_MAX) return found.reverse()
    }
  }
}

function startOf(account: string, name: string): string {
  return `${account}/${name}@`
}

function keyOf(account: string, api: ApiId): string {
  return `${account}/${api}`
}

function textOf({ api: _, ...binding }: Binding): string {
  return JSON.stringify(binding)
}

/** @throws SoukError `name_conflict` */
function chosen(all: readonly Binding[], { name, provider }: ApiRef, now: number): Binding | undefined {
  const bindings = all.filter(({ until = Infinity }) => now < until)
  if (provider !== undefined) return bindings.find(({ api }) => parseApiRef(api).provider === provider)
  if (bindings.length > 1) {
    throw new SoukError('name_conflict', `There are subscriptions to several APIs called "${name}".`, {
      members: { candidates: bindings.map(({ api }) => ({ id: api })) }
    })
  }
  return bindings[0]
}
