import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { isSoukError } from '../../lib/base/errors.ts'
import type { CallRecord, Store } from '../../lib/interface/store.ts'
import { callRecord, freshIds, peerId, storedResponse } from '../helpers/call-record.ts'
import { backupCases } from './store-backup.ts'
import { claimCases } from './store-claims.ts'
import { documentCases } from './store-documents.ts'
import { ledgerCases } from './store-ledger.ts'
import { listingCases } from './store-listings.ts'
import { retentionCases } from './store-retention.ts'

/** One implementation under test. */
export interface StoreSubject {
  /** Not opened yet. */
  readonly store: Store
  /** The store of a later process: the same data, after `store` was closed. */
  again(): Store
  /** The tool that copies this store, if `backUp` does not support it. */
  readonly backupTool?: string
  /** Removes the data; all stores are closed by then. */
  dispose(): void
}

const TURNS_MAX = 1_000
/** The largest amount that can be written, see base/money.ts. */
const ATOMS_MAX = 10n ** 15n

const BALANCED = [
  { account: 'a', amount: 1n },
  { account: 'b', amount: -1n }
]

/** Waits for asynchronous writes. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let turns = 0; turns < TURNS_MAX; turns++) {
    if (await condition()) return
    await turn()
  }
  assert.fail('what was written asynchronously never showed')
}

/** The contract of `lib/interface/store.ts`, case by case. */
export function storeSuite(name: string, create: () => StoreSubject | Promise<StoreSubject>): void {
  describe(`${name} implements the Store contract`, () => {
    let subject: StoreSubject
    let store: Store
    const reopen = async (): Promise<Store> => {
      await store.close()
      store = subject.again()
      await store.open()
      return store
    }

    beforeEach(async () => {
      subject = await create()
      store = subject.store
      await store.open()
    })

    afterEach(async () => {
      await store.close()
      subject.dispose()
    })

    describe('calls', () => callCases(() => store, reopen))
    describe('stored responses', () => responseCases(() => store, reopen))
    describe('claims', () => claimCases(() => store, reopen))
    describe('usage', () => usageCases(() => store, reopen))
    describe('documents', () => documentCases(() => store, reopen))
    describe('the ledger', () => ledgerCases(() => store, reopen))
    describe('retention', () => retentionCases(() => store, reopen))
    describe('listings', () => listingCases(() => store, reopen))
    describe('backups', () =>
      backupCases(
        () => store,
        () => subject.backupTool
      ))
    describe('opening and closing', () => lifeCases(() => store, reopen))
  })
}

type Reopen = () => Promise<Store>

function callCases(current: () => Store, reopen: Reopen): void {
  it('finds a record as appended, field by field', async () => {
    const records = [
      callRecord(),
      callRecord({ response: storedResponse() }),
      callRecord({ outcome: 'void', status: 504, code: 'upstream_timeout' }),
      callRecord({ price: ATOMS_MAX, charged: ATOMS_MAX - 1n }),
      callRecord({ charged: 1n, rule: 'partial-data' }),
      callRecord({ price: 0n, ownerMs: 0, upstreamMs: 0, at: 0, revision: 0 }),
      callRecord({ response: { status: 204, headers: [], body: new Uint8Array(0) } })
    ]
    for (const record of records) await current().calls.append(record)
    for (const record of records) {
      assert.deepEqual(await current().calls.find(record.peer, record.requestId), record)
    }
  })

  it('keeps records after closing and reopening', async () => {
    const records = [callRecord({ response: storedResponse() }), callRecord({ price: ATOMS_MAX, charged: ATOMS_MAX })]
    for (const record of records) await current().calls.append(record)
    const store = await reopen()
    for (const record of records) assert.deepEqual(await store.calls.find(record.peer, record.requestId), record)
  })

  it('finds nothing for an unknown peer, an unknown id or an id of another length', async () => {
    const record = callRecord()
    await current().calls.append(record)
    assert.equal(await current().calls.find(peerId('X'), record.requestId), undefined)
    assert.equal(await current().calls.find(record.peer, freshIds.next()), undefined)
    assert.equal(await current().calls.find(record.peer, new Uint8Array(0)), undefined)
    assert.equal(await current().calls.find(record.peer, record.requestId.subarray(0, 15)), undefined)
  })

  it('rejects a second record with the same peer and id, and keeps the first', async () => {
    const record = callRecord()
    await current().calls.append(record)
    await assert.rejects(current().calls.append(callRecord({ ...record, price: 9n })), {
      code: 'idempotency_in_flight'
    })
    assert.deepEqual(await current().calls.find(record.peer, record.requestId), record)
    assert.equal((await current().calls.recent({ limit: 10 })).length, 1)
  })

  it('accepts the same id from two peers', async () => {
    const requestId = freshIds.next()
    const [one, two] = [callRecord({ requestId, peer: peerId('A') }), callRecord({ requestId, peer: peerId('B') })]
    await Promise.all([current().calls.append(one), current().calls.append(two)])
    assert.deepEqual(await current().calls.find(one.peer, requestId), one)
    assert.deepEqual(await current().calls.find(two.peer, requestId), two)
  })

  it('rejects only the duplicates among concurrent appends', async () => {
    const first = callRecord({ response: storedResponse('first') })
    const records = [callRecord(), first, callRecord(), callRecord({ ...first, price: 9n }), callRecord()]
    const results = await Promise.allSettled(records.map((record) => current().calls.append(record)))
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']
    )
    const store = await reopen()
    for (const record of records.toSpliced(3, 1)) {
      assert.deepEqual(await store.calls.find(record.peer, record.requestId), record)
    }
    assert.equal((await store.calls.usage())[0]?.captured, 4)
  })

  it('rejects only the malformed among concurrent appends', async () => {
    const malformed: Array<Partial<CallRecord>> = [
      { requestId: new Uint8Array(15) },
      { price: 2n ** 63n },
      { price: -1n },
      { charged: 2n ** 70n },
      { status: 200.5 },
      { revision: Number.NaN },
      { at: Number.POSITIVE_INFINITY },
      { ownerMs: Number.NaN }
    ]
    const good = [callRecord(), callRecord(), callRecord()]
    const appends = [...malformed.map(callRecord), ...good].map((record) => current().calls.append(record))
    const results = await Promise.allSettled(appends)
    for (const result of results.slice(0, malformed.length)) {
      assert.ok(result.status === 'rejected' && isSoukError(result.reason))
    }
    for (const record of good) assert.deepEqual(await current().calls.find(record.peer, record.requestId), record)
    assert.equal((await current().calls.recent({ limit: 100 })).length, good.length)
  })

  it('resolves more concurrent appends than one commit holds', async () => {
    const records = Array.from({ length: 5_000 }, () => callRecord())
    await Promise.all(records.map((record) => current().calls.append(record)))
    const store = await reopen()
    for (const record of records) assert.ok(await store.calls.find(record.peer, record.requestId))
  })

  it('lists the newest first, at most `limit`, of one API or of all', async () => {
    const [ticker, accounts] = [`ticker@${peerId('P')}`, `accounts@${peerId('P')}`] as const
    const records = [ticker, accounts, ticker, ticker, accounts].map((api, at) => callRecord({ api, at }))
    for (const record of records) await current().calls.append({ ...record, response: storedResponse() })
    const recent = async (query: Parameters<Store['calls']['recent']>[0]) =>
      (await current().calls.recent(query)).map((record) => record.at)

    assert.deepEqual(await recent({ limit: 100 }), [4, 3, 2, 1, 0])
    assert.deepEqual(await recent({ limit: 2 }), [4, 3])
    assert.deepEqual(await recent({ api: ticker, limit: 2 }), [3, 2])
    assert.deepEqual(await recent({ api: accounts, limit: 100 }), [4, 1])
    assert.deepEqual(await recent({ api: `nothing@${peerId('P')}`, limit: 100 }), [])
    assert.deepEqual(await recent({ limit: 0 }), [])
    assert.deepEqual(await recent({ limit: -1 }), [])
    const listed = await current().calls.recent({ limit: 5 })
    assert.deepEqual(
      listed.map(({ seq: _, ...record }) => record),
      records.toReversed()
    )
    for (const [i, { seq }] of listed.entries()) {
      assert.deepEqual(await recent({ before: seq, limit: 100 }), [4, 3, 2, 1, 0].slice(i + 1))
    }
    const third = listed[2]?.seq ?? 0
    assert.deepEqual(await recent({ api: accounts, before: third, limit: 100 }), [1])
    assert.deepEqual(await recent({ before: 0, limit: 100 }), [])
  })
}

function responseCases(current: () => Store, reopen: Reopen): void {
  const responseOf = async (record: CallRecord) => (await current().calls.find(record.peer, record.requestId))?.response

  it('are deleted when acknowledged; the record and other responses stay', async () => {
    const record = callRecord()
    const [acknowledged, alike, other] = [
      { ...record, response: storedResponse() },
      callRecord({ response: storedResponse() }),
      callRecord({ response: storedResponse() })
    ]
    for (const each of [acknowledged, alike, other]) await current().calls.append(each)
    current().calls.acknowledge(record.peer, [acknowledged.requestId, alike.requestId])
    await until(async () => (await responseOf(acknowledged)) === undefined && (await responseOf(alike)) === undefined)
    assert.deepEqual(await current().calls.find(record.peer, record.requestId), record)
    assert.deepEqual(await responseOf(other), storedResponse())
  })

  it('stay if another peer acknowledges the id, or the id is unknown or malformed', async () => {
    const record = callRecord({ response: storedResponse() })
    await current().calls.append(record)
    current().calls.acknowledge(peerId('X'), [record.requestId])
    current().calls.acknowledge(record.peer, [freshIds.next(), new Uint8Array(3), new Uint8Array(0)])
    current().calls.acknowledge(record.peer, [])
    await reopen()
    assert.deepEqual(await responseOf(record), storedResponse())
  })

  it('are deleted even if the acknowledgement was still queued when the store closed', async () => {
    const record = callRecord({ response: storedResponse() })
    await current().calls.append(record)
    current().calls.acknowledge(record.peer, [record.requestId])
    await reopen()
    assert.equal(await responseOf(record), undefined)
  })

  it('are acknowledged by the original id, even if its buffer changes', async () => {
    const record = callRecord({ response: storedResponse() })
    await current().calls.append(record)
    const buffer = record.requestId.slice()
    current().calls.acknowledge(record.peer, [buffer])
    buffer.fill(0)
    await until(async () => (await responseOf(record)) === undefined)
  })

  it('older than a time are deleted and counted; records, and later responses, stay', async () => {
    const records = [30, 10, 20, 40].map((at) => callRecord({ at, response: storedResponse() }))
    records.push(callRecord({ at: 5 }))
    for (const record of records) await current().calls.append(record)
    assert.equal(await current().calls.dropResponses(30), 2)
    assert.equal(await current().calls.dropResponses(30), 0)
    await reopen()
    const logged = await current().calls.recent({ limit: 10 })
    const kept = logged.map(async ({ peer, requestId, at }) => {
      return [at, (await current().calls.find(peer, requestId))?.response !== undefined]
    })
    assert.deepEqual(await Promise.all(kept), [
      [5, false],
      [40, true],
      [20, false],
      [10, false],
      [30, true]
    ])
  })

  it('are deleted in any number', async () => {
    const records = Array.from({ length: 700 }, () => callRecord({ at: 1, response: storedResponse('x') }))
    await Promise.all(records.map((record) => current().calls.append(record)))
    assert.equal(await current().calls.dropResponses(2), records.length)
    assert.equal(await responseOf(records[0]!), undefined)
    assert.equal(await responseOf(records.at(-1)!), undefined)
  })
}

function usageCases(current: () => Store, reopen: Reopen): void {
  const [ticker, accounts] = [`ticker@${peerId('P')}`, `accounts@${peerId('P')}`] as const

  it('is empty at first', async () => {
    assert.deepEqual(await current().calls.usage(), [])
  })

  it('counts captured and void calls by API, and sums only the prices of captured ones', async () => {
    const records = [
      callRecord({ api: ticker, price: 5n, charged: 5n }),
      callRecord({ api: accounts, price: 7n }),
      callRecord({ api: ticker, price: 11n, outcome: 'void' }),
      callRecord({ api: ticker, price: 13n, charged: 2n }),
      // A further payment for a call that is counted already.
      callRecord({ api: ticker, price: 3n, charged: 3n, rule: 'events' })
    ]
    for (const record of records) await current().calls.append(record)
    const expected = [
      { api: accounts, captured: 1, voided: 0, metered: 7n, charged: 0n },
      { api: ticker, captured: 2, voided: 1, metered: 21n, charged: 10n }
    ]
    const usage = async (): Promise<unknown> =>
      (await current().calls.usage()).toSorted((a, b) => (a.api < b.api ? -1 : 1))
    assert.deepEqual(await usage(), expected)
    await reopen()
    assert.deepEqual(await usage(), expected)
  })

  it('sums exactly beyond a double, and beyond 64 bits', async () => {
    const count = 10_000
    const records = Array.from({ length: count }, () => callRecord({ api: ticker, price: ATOMS_MAX, charged: 1n }))
    await Promise.all(records.map((record) => current().calls.append(record)))
    await current().calls.append(callRecord({ api: ticker, price: 1n, charged: 1n }))
    assert.deepEqual(await current().calls.usage(), [
      {
        api: ticker,
        captured: count + 1,
        voided: 0,
        metered: ATOMS_MAX * BigInt(count) + 1n,
        charged: BigInt(count) + 1n
      }
    ])
  })

  it('counts no call twice, and no rejected call', async () => {
    const record = callRecord({ api: ticker, price: 5n })
    await Promise.allSettled([1, 2, 3].map(() => current().calls.append(record)))
    await Promise.allSettled([current().calls.append(record)])
    assert.deepEqual(await current().calls.usage(), [{ api: ticker, captured: 1, voided: 0, metered: 5n, charged: 0n }])
  })
}

function lifeCases(current: () => Store, reopen: Reopen): void {
  const attempts = (store: Store): Array<Promise<unknown>> => [
    store.calls.append(callRecord()),
    store.calls.find(peerId('C'), freshIds.next()),
    store.calls.recent({ limit: 1 }),
    store.calls.usage(),
    store.calls.dropResponses(0),
    store.documents.get('a', 'b'),
    store.documents.put('a', 'b', '1'),
    store.documents.insert('a', 'b', '1'),
    store.documents.delete('a', 'b'),
    store.documents.list('a'),
    store.ledger.book({ kind: 'a', reference: 'b', at: 0, postings: BALANCED }),
    store.ledger.balance('a'),
    store.ledger.balances('a'),
    store.ledger.entries({ limit: 1 })
  ]

  it('rejects every use after close, and silently accepts a late acknowledgement', async () => {
    const store = current()
    await store.close()
    for (const result of await Promise.allSettled(attempts(store))) {
      assert.ok(result.status === 'rejected' && isSoukError(result.reason), JSON.stringify(result))
    }
    store.calls.acknowledge(peerId('C'), [freshIds.next()])
  })

  it('writes queued changes before it closes', async () => {
    const records = Array.from({ length: 50 }, () => callRecord())
    const writes = records.map((record) => current().calls.append(record))
    const document = current().documents.put('pins', 'a', '1')
    const store = await reopen()
    await Promise.all([...writes, document])
    for (const record of records) assert.deepEqual(await store.calls.find(record.peer, record.requestId), record)
    assert.equal(await store.documents.get('pins', 'a'), '1')
  })

  it('may be opened and closed twice, and opened again', async () => {
    const store = current()
    const record = callRecord()
    await store.open()
    await store.calls.append(record)
    await store.close()
    await store.close()
    await store.open()
    assert.deepEqual(await store.calls.find(record.peer, record.requestId), record)
  })
}
