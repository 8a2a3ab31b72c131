import { NotFoundError } from '@libp2p/interface'
import { BaseDatastore } from 'datastore-core'

type Query = Parameters<BaseDatastore['query']>[0]
type Key = Parameters<BaseDatastore['put']>[0]
interface Pair {
  readonly key: Key
  readonly value: Uint8Array
}

/** A key prefix, and its limits. A key is a path: the part before its last `/` is its folder. */
export interface StoredArea {
  readonly prefix: string
  readonly entriesMax: number
  readonly perFolderMax?: number
  /** Entries with the same last part, over all folders. */
  readonly perNameMax?: number
}

/** Keys sorted by last write, oldest first. */
type Written = Set<string>

/**
 * A node's in-memory datastore with limits: a new entry evicts the oldest of its kind. A query of one folder reads only
 * that folder. libp2p's own datastore reads all keys per query, which is slow during a flood.
 */
export class BoundedDatastore extends BaseDatastore {
  readonly #areas: readonly StoredArea[]
  readonly #own: readonly string[]
  readonly #pairs = new Map<string, Pair>()
  readonly #byArea = new Map<string, Written>()
  readonly #byFolder = new Map<string, Written>()
  readonly #byName = new Map<string, Written>()

  /** @param own - the node's own names; entries under them are never evicted */
  constructor(areas: readonly StoredArea[], own: readonly string[]) {
    super()
    this.#areas = areas
    this.#own = own
  }

  override put(key: Key, value: Uint8Array): Promise<Key> {
    const path = key.toString()
    const { area, folder, name } = this.#placesOf(path)
    this.#pairs.set(path, { key, value })
    write(this.#byFolder, folder, path)
    if (area !== undefined) {
      write(this.#byArea, area.prefix, path)
      write(this.#byName, area.prefix + name, path)
      this.#trim(this.#byName.get(area.prefix + name), area.perNameMax)
      this.#trim(this.#byFolder.get(folder), area.perFolderMax)
      this.#trim(this.#byArea.get(area.prefix), area.entriesMax)
    }
    return Promise.resolve(key)
  }

  override get(key: Key): Promise<Uint8Array> {
    const value = this.#pairs.get(key.toString())?.value
    return value === undefined ? Promise.reject(new NotFoundError()) : Promise.resolve(value)
  }

  override has(key: Key): Promise<boolean> {
    return Promise.resolve(this.#pairs.has(key.toString()))
  }

  override delete(key: Key): Promise<void> {
    this.#forget(key.toString())
    return Promise.resolve()
  }

  override async *_all({ prefix }: Pick<Query, 'prefix'>): AsyncGenerator<Pair> {
    yield* this.#under(prefix)
  }

  override async *_allKeys({ prefix }: Pick<Query, 'prefix'>): AsyncGenerator<Key> {
    for (const { key } of this.#under(prefix)) yield key
  }

  *#under(prefix = ''): Generator<Pair> {
    // Copied, because a key written during the read moves to the end and would be read again.
    for (const path of Array.from(this.#byFolder.get(prefix) ?? this.#pairs.keys())) {
      const pair = this.#pairs.get(path)
      if (pair !== undefined) yield pair
    }
  }

  #placesOf(key: string) {
    const at = key.lastIndexOf('/')
    const area = this.#areas.find(({ prefix }) => key.startsWith(prefix))
    return { area, folder: key.slice(0, at), name: key.slice(at + 1) }
  }

  #trim(written: Written | undefined, most = Number.POSITIVE_INFINITY): void {
    if (written === undefined || written.size <= most) return
    for (const key of written) {
      if (this.#own.includes(this.#placesOf(key).name)) continue
      this.#forget(key)
      return
    }
  }

  #forget(key: string): void {
    const { area, folder, name } = this.#placesOf(key)
    this.#pairs.delete(key)
    erase(this.#byFolder, folder, key)
    if (area === undefined) return
    erase(this.#byArea, area.prefix, key)
    erase(this.#byName, area.prefix + name, key)
  }
}

function write(of: Map<string, Written>, place: string, key: string): void {
  const written = of.get(place) ?? new Set()
  written.delete(key)
  written.add(key)
  of.set(place, written)
}

function erase(of: Map<string, Written>, place: string, key: string): void {
  const written = of.get(place)
  written?.delete(key)
  if (written?.size === 0) of.delete(place)
}
