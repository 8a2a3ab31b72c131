import { STORED_BYTES_MAX } from '../base/limits.ts'
import { SoukError } from '../base/errors.ts'
import { formatRequestId } from '../base/request-id.ts'
import type { DocumentPut } from '../interface/ledger.ts'
import type { CallLog, CallRecord, Documents, Store, UsageRow } from '../interface/store.ts'
import { alreadyRecorded, checkCallRecord, isCall } from './call-record.ts'
import { storeNotOpen } from './commit-queue.ts'
import { checkPostings } from './ledger-entry.ts'
import { memoryClaims, type MemoryClaims } from './memory-claims.ts'
import { memoryLedger } from './memory-ledger.ts'
import { memoryListings } from './memory-listings.ts'
import { memoryRetention } from './memory-retention.ts'
import { fitsShare } from './stored-share.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Check = () => void
type Post = ReturnType<typeof memoryLedger>['post']
type PutAll = Parameters<typeof memoryLedger>[1]

export interface MemoryStoreInit {
  /** Bytes of stored responses: past it calls are answered and recorded without. Default `STORED_BYTES_MAX`. */
  readonly storedBytesMax?: number
}

/**
 * Keeps everything in memory, for tests and nodes that are thrown away: as durable as the object itself, which keeps its
 * contents when it is closed and opened again.
 */
export function createMemoryStore({ storedBytesMax = STORED_BYTES_MAX }: MemoryStoreInit = {}): Store {
  let isOpen = false
  const check = () => {
    if (!isOpen) throw storeNotOpen()
  }
  const documents = memoryDocuments(check)
  const putAll: PutAll = (puts) => {
    void documents.putAll(puts)
  }
  const { ledger, post, entries, remove, carried } = memoryLedger(check, putAll)
  const records = new Map<string, CallRecord>()
  const claims = memoryClaims(check, (call) => records.get(call))
  const places = new Map<string, Place>()
  const ofCalls = new Set<number>()
  const entryOf = (call: string) => entries.get(places.get(call)?.entry ?? 0)
  return {
    calls: memoryCalls({ check, post, putAll, records, claims, places, ofCalls, storedBytesMax }),
    claims: claims.claims,
    documents,
    ledger,
    retention: memoryRetention({
      check,
      records,
      seqOf: (call) => places.get(call)?.seq ?? 0,
      isAnswer: (call) => claims.isAnswer(call),
      entries,
      entryOf,
      isOfCall: (seq) => ofCalls.has(seq),
      removeEntry: remove,
      carried
    }),
    listings: memoryListings(check),
    async backUp() {
      check()
      throw new SoukError('backup_not_supported', 'This store is in memory only: nothing can copy it.')
    },
    async open() {
      isOpen = true
    },
    async close() {
      isOpen = false
    }
  }
}

/** Where a call stands: its number, and its entry's. */
interface Place {
  readonly seq: number
  readonly entry?: number
}

interface MemoryCallsInit {
  readonly check: Check
  readonly post: Post
  readonly putAll: PutAll
  /** In the order of the appends. */
  readonly records: Map<string, CallRecord>
  readonly claims: MemoryClaims
  /** By what finds the calls. */
  readonly places: Map<string, Place>
  /** Numbers of their entries. */
  readonly ofCalls: Set<number>
  readonly storedBytesMax: number
}

function memoryCalls(init: MemoryCallsInit): CallLog {
  const { check, post, putAll, records, claims, places, ofCalls, storedBytesMax } = init
  let seq = 0
  /** Of stored responses, by peer, and of all of them. */
  const stored = new Map<string, number>()
  let storedInAll = 0
  const held = new Set<string>()
  const countStored = (peer: string, bytes: number): void => {
    stored.set(peer, (stored.get(peer) ?? 0) + bytes)
    storedInAll += bytes
  }
  const totals = new Map<string, Mutable<UsageRow>>()
  const keyOf = (peer: string, requestId: Uint8Array): string => `${Buffer.from(requestId).toString('hex')}/${peer}`

  const count = (record: CallRecord): void => {
    const { api, outcome, price, charged } = record
    const row = totals.get(api) ?? { api, captured: 0, voided: 0, metered: 0n, charged: 0n }
    totals.set(api, row)
    row.charged += charged
    if (outcome === 'captured') {
      if (isCall(record)) row.captured++
      row.metered += price
    } else row.voided++
  }
  const dropResponse = (key: string): boolean => {
    const { response, ...record } = records.get(key) ?? {}
    if (response === undefined) return false
    records.set(key, record as CallRecord)
    held.delete(key)
    countStored((record as CallRecord).peer, -response.body.length)
    return true
  }

  return {
    async append(record, { postings, documents = [] } = {}) {
      check()
      checkCallRecord(record)
      if (postings !== undefined) checkPostings(postings)
      const key = keyOf(record.peer, record.requestId)
      if (records.has(key)) throw alreadyRecorded()
      // The id is a view of the chunk it came in, which must not be kept for it.
      const { claim, isHeld, response, ...rest } = record
      const kept = { ...rest, requestId: Uint8Array.from(record.requestId) }
      const isStored =
        response !== undefined &&
        fitsShare(response.body.length, stored.get(record.peer) ?? 0, storedInAll, storedBytesMax)
      records.set(key, isStored ? { ...kept, response } : kept)
      if (isStored) countStored(record.peer, response.body.length)
      if (isStored && isHeld === true) held.add(key)
      seq++
      if (claim !== undefined) claims.settle(claim, record.at, key)
      count(record)
      putAll(documents)
      const reference = formatRequestId(record.requestId)
      const entry = postings && post({ kind: 'call', reference, at: record.at, postings })
      if (entry !== undefined) ofCalls.add(entry)
      places.set(key, entry === undefined ? { seq } : { seq, entry })
    },
    async find(peer, requestId) {
      check()
      return records.get(keyOf(peer, requestId))
    },
    acknowledge(peer, requestIds) {
      for (const requestId of requestIds) {
        const key = keyOf(peer, requestId)
        if (!claims.isAnswer(key) && !held.has(key)) dropResponse(key)
      }
    },
    async recent({ api, before = Infinity, limit }) {
      check()
      const logged = Array.from(records, ([key, { response: _, ...record }]) => {
        return { ...record, seq: places.get(key)?.seq ?? 0 }
      })
      const wanted = logged.filter((call) => call.seq < before && (api === undefined || call.api === api))
      return wanted.toReversed().slice(0, Math.max(0, limit))
    },
    async usage() {
      check()
      return Array.from(totals.values(), (row) => ({ ...row }))
    },
    async dropResponses(before) {
      check()
      const old = [...records].filter(([, record]) => record.at < before)
      return old.filter(([key]) => dropResponse(key)).length
    }
  }
}

function memoryDocuments(check: Check): Documents {
  const collections = new Map<string, Map<string, string>>()
  /** By collection and key. */
  const ends = new Map<string, { readonly collection: string; readonly key: string; readonly at: number }>()
  const put = ({ collection: name, key, value, expiresAt }: DocumentPut): void => {
    collection(name).set(key, value)
    const place = JSON.stringify([name, key])
    ends.delete(place)
    if (expiresAt !== undefined) ends.set(place, { collection: name, key, at: expiresAt })
  }
  const collection = (name: string): Map<string, string> => {
    check()
    const found = collections.get(name) ?? new Map<string, string>()
    collections.set(name, found)
    return found
  }

  return {
    async get(name, key) {
      return collection(name).get(key)
    },
    async put(name, key, value) {
      put({ collection: name, key, value })
    },
    async putAll(documents) {
      check()
      documents.forEach(put)
    },
    async insert(name, key, value) {
      if (collection(name).has(key)) return false
      collection(name).set(key, value)
      return true
    },
    async replace(name, key, before, value) {
      if (collection(name).get(key) !== before) return false
      collection(name).set(key, value)
      return true
    },
    async delete(name, key) {
      return collection(name).delete(key)
    },
    async last(name, { before, limit }) {
      const documents = inOrder(collection(name)).toReversed()
      const wanted = documents.filter(({ key }) => before === undefined || byBytes(key, before) < 0)
      return wanted.slice(0, Math.max(0, limit))
    },
    async list(name) {
      return inOrder(collection(name))
    },
    async trim(name, before, limit) {
      const old = inOrder(collection(name)).filter(({ key }) => byBytes(key, before) < 0)
      return old.slice(0, limit).filter(({ key }) => collection(name).delete(key)).length
    },
    async sweep(now, limit) {
      check()
      const over = [...ends].filter(([, { at }]) => at <= now).sort(([, a], [, b]) => a.at - b.at)
      const gone = over.slice(0, limit)
      for (const [place, { collection: name, key }] of gone) {
        ends.delete(place)
        collection(name).delete(key)
      }
      return gone.length
    }
  }
}

function inOrder(collection: ReadonlyMap<string, string>): Array<{ key: string; value: string }> {
  return Array.from(collection, ([key, value]) => ({ key, value })).sort((a, b) => byBytes(a.key, b.key))
}

/** As databases do it: UTF-16 order differs past the basic plane. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
