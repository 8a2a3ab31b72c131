import assert from 'node:assert/strict'
import { KeyedMutex, Mutex } from '../../../lib/base/mutex.ts'
import { settle } from '../../helpers/manual-clock.ts'

describe('a mutex', () => {
  it('runs one task after the other, also after a failed one', async () => {
    const mutex = new Mutex()
    const first = Promise.withResolvers<void>()
    const ran: string[] = []
    const failing = mutex.run(async () => {
      ran.push('first')
      await first.promise
    })
    const second = mutex.run(async () => ran.push('second'))
    const third = mutex.run(async () => ran.push('third'))
    await settle()
    assert.deepEqual(ran, ['first'])
    first.reject(new Error('planned'))
    await assert.rejects(failing, /planned/)
    await Promise.all([second, third])
    assert.deepEqual(ran, ['first', 'second', 'third'])
  })

  it('runs tasks of different keys concurrently', async () => {
    const mutex = new KeyedMutex()
    const leave = await mutex.enter('a')
    let isIn = false
    const waiting = mutex.run('a', async () => {
      isIn = true
    })
    assert.equal(await mutex.run('b', async () => 'b'), 'b')
    await settle()
    assert.equal(isIn, false)
    leave()
    leave()
    await waiting
    assert.equal(isIn, true)
  })
})
