import assert from 'node:assert/strict'
import type { Documents } from '../../../lib/interface/store.ts'
import { type OwnRecord, OwnRecords } from '../../../lib/plans/own-records.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { formatRequestId } from '../../../lib/base/request-id.ts'

describe('the records of a consumer’s subscriptions', () => {
  let documents: Documents
  let records: OwnRecords
  let record: OwnRecord
  const clock = manualClock()

  beforeEach(async () => {
    const store = createMemoryStore()
    await store.open()
    documents = { ...store.documents }
    records = new OwnRecords(documents, clock)
    record = await records.put(recordOf(100n))
  })

  /** From now on, reads of the store wait until the test releases them. */
  function slowReads(): () => void {
    const { get } = documents
    const gate = Promise.withResolvers<void>()
    documents.get = async (collection, key) => {
      const found = await get(collection, key)
      await gate.promise
      return found
    }
    return () => {
      documents.get = get
      gate.resolve()
    }
  }

  it('are not cached if they changed during the read', async () => {
    const another = new OwnRecords(documents, clock)
    const { id } = record.subscription
    const letGo = slowReads()
    const reading = another.find(id)
    await another.put({ ...record, maxPrice: 5n })
    letGo()
    await reading
    assert.equal((await another.find(id))?.maxPrice, 5n)
  })

  it('store an alert without reverting concurrent changes', async () => {
    const { id } = record.subscription
    await clock.advance(60_000)
    const letGo = slowReads()
    const alerting = records.noteAlert(id, { resetsAt: 7, level: 85 })
    await records.put({ ...record, maxPrice: 5n })
    letGo()
    assert.equal(await alerting, true)
    const now = await records.get(id)
    assert.deepEqual([now.maxPrice, now.alerted], [5n, { resetsAt: 7, level: 85 }])
    assert.equal(await records.noteAlert(id, { resetsAt: 7, level: 85 }), false)
    assert.equal(await records.noteAlert(id, { resetsAt: 7, level: 100 }), true)
    assert.equal(await records.noteAlert(id, { resetsAt: 7, level: 85 }), false)
  })
})

function recordOf(maxPrice: bigint): OwnRecord {
  const plan = { id: 'p', name: 'P', fee: 0n, period: 'month', trialDays: 0, overage: [], since: 0 } as const
  return {
    subscription: {
      id: formatRequestId(freshIds.next()),
      api: `shop@${peerId('P')}`,
      plan,
      revision: 1,
      major: 1,
      peer: peerId('C'),
      peers: [],
      owner: peerId('P'),
      state: 'active',
      createdAt: 0,
      periodStart: 0,
      periodEnd: 7,
      version: 1
    },
    isShared: false,
    maxPrice,
    maxFee: 0n
  }
}
