import assert from 'node:assert/strict'
import { SingleFlight } from '../../../lib/base/single-flight.ts'

describe('a single flight', () => {
  it('shares the result of the running task among all callers of a key', async () => {
    const flights = new SingleFlight<string, string>()
    const { promise, resolve } = Promise.withResolvers<string>()
    const first = flights.run('a', () => promise)
    const joined = flights.run('a', () => assert.fail('it ran a second task'))
    assert.equal(await flights.run('b', async () => 'other'), 'other')
    resolve('shared')
    assert.deepEqual(await Promise.all([first, joined]), ['shared', 'shared'])
    assert.equal(await flights.run('a', async () => 'again'), 'again')
  })

  it('forgets a task that failed', async () => {
    const flights = new SingleFlight<string, string>()
    const failing = flights.run('a', () => Promise.reject(new Error('planned')))
    assert.equal(flights.get('a'), failing)
    await flights.settled()
    await assert.rejects(failing, /planned/)
    assert.equal(flights.size, 0)
    assert.equal(await flights.run('a', async () => 'again'), 'again')
  })
})
