import assert from 'node:assert/strict'
import { apiId } from '../../../lib/base/api-name.ts'
import { OWNER_COOLDOWN_MS, SERVERS_MAX } from '../../../lib/base/limits/directory.ts'
import { createOwnerChoice, type OwnerChoice } from '../../../lib/resolve/choose-owner.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { seededRandom } from './fixtures.ts'

const API = apiId('ticker', 'provider')
const owners = ['a', 'b', 'c'].map((id) => ({ id, addresses: [] }))

describe('choice of an owner', () => {
  let clock: ManualClock
  let choice: OwnerChoice

  beforeEach(() => {
    clock = manualClock()
    choice = createOwnerChoice({ clock, random: seededRandom() })
  })

  const order = () => choice.order(API, owners).map(({ id }) => id)

  /** The number of times each owner was chosen first. */
  function leads(times: number): Record<string, number> {
    const count: Record<string, number> = { a: 0, b: 0, c: 0 }
    for (let i = 0; i < times; i++) count[order()[0]!]!++
    return count
  }

  function measure(latencies: Record<string, number>): void {
    for (const [owner, ms] of Object.entries(latencies)) choice.worked(API, owner, ms)
  }

  it('tries responding owners without a measurement before measured ones', () => {
    measure({ a: 1, b: 5 })
    choice.answered('c')
    const { a = 0, b = 0, c = 0 } = leads(320)
    assert.ok(c > 280 && a + b < 40, `${a} ${b} ${c}`)
  })

  it('avoids unknown owners while another one works', () => {
    measure({ b: 50 })
    const { a = 0, b = 0, c = 0 } = leads(320)
    assert.ok(b > 280 && a + c > 0, `${a} ${b} ${c}`)
  })

  it('forgets the owner that it measured first, when an API has had too many', () => {
    measure({ a: 1, b: 50 })
    for (let other = 2; other <= SERVERS_MAX; other++) choice.worked(API, `other ${other}`, 100)
    const { a = 0, b = 0 } = leads(320)
    assert.ok(b > 280 && a < 40, `${a} ${b}`)
  })

  it('treats an owner that responds again as alive', () => {
    measure({ a: 1, b: 10, c: 50 })
    choice.failed('a')
    choice.answered('a')
    assert.equal(order()[0], 'a')
  })

  it('prefers the fastest, and occasionally tries another to measure it again', () => {
    measure({ a: 100, b: 10, c: 200 })
    assert.deepEqual(order(), ['b', 'a', 'c'])
    const { a = 0, b = 0, c = 0 } = leads(3_200)
    assert.ok(b > 3_000 && a > 10 && c > 10, `${a} ${b} ${c}`)
  })

  it('divides the load among owners of similar latency', () => {
    measure({ a: 10, b: 11, c: 200 })
    const { a = 0, b = 0 } = leads(1_000)
    assert.ok(a > 350 && b > 350, `${a} ${b}`)
  })

  it('follows a change of latency within some calls, but not a single outlier', () => {
    measure({ a: 10, b: 20, c: 50 })
    choice.worked(API, 'a', 30)
    assert.equal(order()[0], 'a')
    for (let i = 0; i < 10; i++) choice.worked(API, 'a', 100)
    assert.equal(order()[0], 'b')
  })

  it('puts a failed owner last, for a while or until it works again', async () => {
    measure({ a: 1, b: 10, c: 50 })
    choice.failed('a')
    assert.deepEqual(order(), ['b', 'c', 'a'])
    await clock.advance(OWNER_COOLDOWN_MS)
    assert.equal(order()[0], 'a')
    choice.failed('a')
    choice.worked(API, 'a', 1)
    assert.equal(order()[0], 'a')
  })

  it('never starts with an owner in its cooldown while another is left', () => {
    measure({ a: 1, b: 10, c: 50 })
    choice.failed('a')
    choice.failed('b')
    assert.deepEqual(leads(500), { a: 0, b: 0, c: 500 })
  })

  it('gives the same order for the same seed', () => {
    const run = () => {
      const seeded = createOwnerChoice({ clock, random: seededRandom(7) })
      return Array.from({ length: 20 }, () =>
        seeded
          .order(API, owners)
          .map(({ id }) => id)
          .join('')
      )
    }
    assert.deepEqual(run(), run())
    assert.ok(new Set(run()).size > 1)
  })

  it('returns all given owners, also none and one', () => {
    assert.deepEqual(order().sort(), ['a', 'b', 'c'])
    assert.deepEqual(choice.order(API, []), [])
    assert.deepEqual(choice.order(API, owners.slice(0, 1)), owners.slice(0, 1))
  })
})
