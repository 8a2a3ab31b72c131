import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { within } from '../../../lib/base/within.ts'

describe('within', () => {
  const never = () => new Promise<never>(() => {})

  it('settles like the promise and releases the signal', async () => {
    const { signal } = new AbortController()
    assert.equal(await within(Promise.resolve(1), signal), 1)
    assert.equal(await within(Promise.resolve(2), undefined), 2)
    await assert.rejects(within(Promise.reject(new Error('broken')), signal), /broken/)
    await Promise.resolve()
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('rejects with the signal’s reason, and leaves no unhandled rejection', async () => {
    const reason = new Error('enough')
    await assert.rejects(within(never(), AbortSignal.abort(reason)), reason)
    await assert.rejects(within(Promise.reject(new Error('broken')), AbortSignal.abort(reason)), reason)
    const stop = new AbortController()
    const waiting = assert.rejects(within(never(), stop.signal), reason)
    stop.abort(reason)
    await waiting
  })
})
