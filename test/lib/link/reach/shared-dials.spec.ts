import assert from 'node:assert/strict'
import type { Connection } from '@libp2p/interface'
import { SharedDials } from '../../../../lib/link/reach/shared-dials.ts'
import { settle } from '../../../helpers/manual-clock.ts'

describe('a shared dial', () => {
  const connection = {} as Connection
  let dials: SharedDials
  let started: Array<PromiseWithResolvers<Connection> & { readonly signal: AbortSignal }>

  beforeEach(() => {
    dials = new SharedDials()
    started = []
  })

  const join = (signal = new AbortController().signal) =>
    dials.join('peer', signal, (shared) => {
      const dial = Object.assign(Promise.withResolvers<Connection>(), { signal: shared })
      shared.addEventListener('abort', () => dial.reject(shared.reason))
      started.push(dial)
      return dial.promise
    })

  it('goes on when one of its callers leaves, and its signal is not aborted after it succeeded', async () => {
    const leaving = new AbortController()
    const [left, stayed] = [join(leaving.signal), join()]
    leaving.abort(new Error('left'))
    await assert.rejects(left, /left/)
    started[0]?.resolve(connection)
    assert.equal(await stayed, connection)
    await settle()
    assert.deepEqual([started.length, started[0]?.signal.aborted], [1, false])
  })

  it('is aborted when its last caller leaves, and the next caller starts another one', async () => {
    const leaving = new AbortController()
    const left = [join(leaving.signal), join(leaving.signal)]
    leaving.abort(new Error('left'))
    for (const each of left) await assert.rejects(each, /left/)
    const next = join()
    assert.equal(started[0]?.signal.aborted, true)
    started.at(-1)?.resolve(connection)
    assert.equal(await next, connection)
  })

  it('is started once more for those that joined it, when it fails', async () => {
    const [first, second, third] = [join(), join(), join()]
    started[0]?.reject(new Error('the network was away'))
    await assert.rejects(first, /the network was away/)
    await settle()
    assert.equal(started.length, 2)
    started[1]?.reject(new Error('refused'))
    for (const each of [second, third]) await assert.rejects(each, /refused/)
    const next = join()
    started[2]?.resolve(connection)
    assert.equal(await next, connection)
    assert.equal(started.length, 3)
  })
})
