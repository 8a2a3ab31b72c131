import assert from 'node:assert/strict'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { callRecord } from '../../../helpers/call-record.ts'
import { storeSuite } from '../../../suites/store.ts'
import { SUITE_STORED_BYTES } from '../../../suites/store-retention.ts'

storeSuite('the memory store', () => {
  const store = createMemoryStore({ storedBytesMax: SUITE_STORED_BYTES })
  return { store, again: () => store, dispose: () => {} }
})

describe('the memory store', () => {
  it('waits for no disk and no timer: a write is done within the turn that asks for it', async () => {
    const store = createMemoryStore()
    await store.open()
    let isNextTurn = false
    const turn = setImmediate(() => (isNextTurn = true))
    await Promise.all(Array.from({ length: 10 }, () => store.calls.append(callRecord())))
    await store.documents.put('pins', 'a', '1')
    assert.equal((await store.calls.usage())[0]?.captured, 10)
    assert.equal(isNextTurn, false)
    clearImmediate(turn)
    await store.close()
  })

  it('shares nothing with another one', async () => {
    const [one, other] = [createMemoryStore(), createMemoryStore()]
    await Promise.all([one.open(), other.open()])
    await one.documents.put('pins', 'a', '1')
    assert.equal(await other.documents.get('pins', 'a'), undefined)
    await Promise.all([one.close(), other.close()])
  })
})
