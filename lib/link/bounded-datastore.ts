import { NotFoundError } from '@libp2p/interface'
import { BaseDatastore } from 'datastore-core'

type Query = Parameters<BaseDatastore['query']>[0]
type Key = Parameters<BaseDatastore['put']>[0]
interface Pair {
  readonly key: Key
  readonly value: Uint8Array
}

/** A part of the keys, and how many entries it keeps. A key is a path: what stands before its last `/` is its folder. */
export interface StoredArea {
  readonly prefix: string
  readonly entriesMax: number
  readonly perFolderMax?: number
  /** Of all folders, entries with the same last part. */
  readonly perNameMax?: number
}

/** Keys in the order of their last write, the oldest first. */
type Written = Set<string>

/**
 * A node's datastore in memory, with bounds: what strangers make it keep pushes out the oldest of the same kind. A query of one
 * folder reads that folder only. libp2p's own reads all keys for each query, which a flood makes slow.
 */
export class BoundedDatastore extends BaseDatastore {
  readonly #areas: readonly StoredArea[]
  readonly #own: readonly string[]
  readonly #pairs = new Map<string, Pair>()
  readonly #byArea = new Map<string, Written>()
  readonly #byFolder = new Map<string, Written>()
  readonly #byName = new Map<string, Written>()

  /** @param own - names of the node itself: what is stored under them stays */
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
    // Copied: what is written while it is read comes to the end again.
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
