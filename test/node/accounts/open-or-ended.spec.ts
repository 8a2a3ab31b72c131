import assert from 'node:assert/strict'
import { createMemoryStore } from '../../../lib/index.ts'
import type { Documents } from '../../../lib/interface/index.ts'
import { openOrEnded } from '../../../node/accounts/open-or-ended.ts'

const COLLECTIONS = { open: 'withdrawals', ended: 'withdrawals-ended' }

describe('the document of a payment', () => {
  let documents: Documents
  beforeEach(async () => {
    const store = createMemoryStore()
    await store.open()
    documents = store.documents
    await documents.put(COLLECTIONS.open, 'id', 'pending')
  })
  const end = async () => {
    await documents.put(COLLECTIONS.ended, 'id', 'done')
    await documents.delete(COLLECTIONS.open, 'id')
  }

  it('is the open one, then the ended one, and none for another key', async () => {
    assert.equal(await openOrEnded(documents, COLLECTIONS, 'id'), 'pending')
    assert.equal(await openOrEnded(documents, COLLECTIONS, 'other'), undefined)
    await end()
    assert.equal(await openOrEnded(documents, COLLECTIONS, 'id'), 'done')
  })

  it('is found although the payment ends between two reads', async () => {
    const slow: Pick<Documents, 'get'> = {
      async get(collection, key) {
        const value = await documents.get(collection, key)
        if (value === undefined) await end()
        return value
      }
    }
    assert.equal(await openOrEnded(slow, COLLECTIONS, 'id'), 'done')
  })
})
