import { formatRequestId } from '../base/request-id.ts'
import type { CallLog, CallRecord, Documents, Store, UsageRow } from '../interface/store.ts'
import { alreadyRecorded, checkCallRecord, isCall } from './call-record.ts'
import { storeNotOpen } from './commit-queue.ts'
import { checkPostings } from './ledger-entry.ts'
import { memoryClaims, type MemoryClaims } from './memory-claims.ts'
import { memoryLedger } from './memory-ledger.ts'
import { memoryListings } from './memory-listings.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Check = () => void
type Post = ReturnType<typeof memoryLedger>['post']
type PutAll = Parameters<typeof memoryLedger>[1]

/**
 * Keeps everything in memory, for tests and nodes that are thrown away: as durable as the object itself, which keeps its
 * contents when it is closed and opened again. It only grows.
 */
export function createMemoryStore(): Store {
  let isOpen = false
  const check = () => {
    if (!isOpen) throw storeNotOpen()
  }
  const documents = memoryDocuments(check)
  const putAll: PutAll = (puts) => {
    for (const { collection, key, value } of puts) void documents.put(collection, key, value)
  }
  const { ledger, post } = memoryLedger(check, putAll)
  const records = new Map<string, CallRecord>()
  const claims = memoryClaims(check, (call) => records.get(call))
  return {
    calls: memoryCalls({ check, post, putAll, records, claims }),
    claims: claims.claims,
    documents,
    ledger,
    listings: memoryListings(check),
    async open() {
      isOpen = true
    },
    async close() {
      isOpen = false
    }
  }
}

interface MemoryCallsInit {
  readonly check: Check
  readonly post: Post
  readonly putAll: PutAll
  /** In the order of the appends. */
  readonly records: Map<string, CallRecord>
  readonly claims: MemoryClaims
}

function memoryCalls({ check, post, putAll, records, claims }: MemoryCallsInit): CallLog {
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
      const { claim, ...rest } = record
      records.set(key, { ...rest, requestId: Uint8Array.from(record.requestId) })
      if (claim !== undefined) claims.settle(claim, record.at, key)
      count(record)
      putAll(documents)
      if (postings !== undefined) {
        post({ kind: 'call', reference: formatRequestId(record.requestId), at: record.at, postings })
      }
    },
    async find(peer, requestId) {
      check()
      return records.get(keyOf(peer, requestId))
    },
    acknowledge(peer, requestIds) {
      for (const requestId of requestIds) {
        const key = keyOf(peer, requestId)
        if (!claims.isAnswer(key)) dropResponse(key)
      }
    },
    async recent({ api, before = Infinity, limit }) {
      check()
      const logged = Array.from(records.values(), ({ response: _, ...record }, i) => ({ ...record, seq: i + 1 }))
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
      collection(name).set(key, value)
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
    }
  }
}

function inOrder(collection: ReadonlyMap<string, string>): Array<{ key: string; value: string }> {
  return Array.from(collection, ([key, value]) => ({ key, value })).sort((a, b) => byBytes(a.key, b.key))
}

/** As databases do it: UTF-16 order differs past the basic plane. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
