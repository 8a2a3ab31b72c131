import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { systemClock } from '../../../lib/base/clock.ts'
import { REQUEST_ID_BACK_MS } from '../../../lib/base/limits/store.ts'
import { type Random, systemRandom } from '../../../lib/base/random.ts'
import { formatRequestId, requestIds } from '../../../lib/base/request-id.ts'

/** A clock that returns the given times in turn, then the last one. */
const readings = (...times: number[]) => {
  let last = 0
  return { ...systemClock, now: () => (last = times.shift() ?? last) }
}
const zeros: Random = { fill: (target) => target.fill(0) }
const ones: Random = { fill: (target) => target.fill(0xff) }
const millisecondsOf = (id: Uint8Array) =>
  new DataView(id.buffer).getUint32(0) * 0x10000 + new DataView(id.buffer).getUint16(4)

function assertAscending(ids: readonly Uint8Array[]): void {
  for (const [i, id] of ids.entries()) {
    const before = ids[i - 1]
    if (before !== undefined)
      assert.ok(Buffer.compare(before, id) < 0, `${formatRequestId(before)} < ${formatRequestId(id)}`)
  }
}

describe('request ids', () => {
  it('are unique and ascending for 100,000 ids', () => {
    const ids = requestIds(systemClock, systemRandom)
    const made = Array.from({ length: 100_000 }, () => ids.next())
    assert.equal(new Set(made.map(formatRequestId)).size, made.length)
    assertAscending(made)
  })

  it('have version 7 and the RFC 9562 variant for any random bits', () => {
    for (const random of [zeros, ones, systemRandom]) {
      const id = requestIds(readings(1_750_000_000_000), random).next()
      assert.equal(id.length, 16)
      assert.equal(id[6]! >> 4, 7)
      assert.equal(id[8]! >> 6, 0b10)
    }
  })

  it('ascend while the clock is set back a little, and follow a clock that was far ahead', () => {
    const now = 1_750_000_000_000
    const ids = requestIds(readings(now, now - 1, now - REQUEST_ID_BACK_MS, now - REQUEST_ID_BACK_MS - 1), systemRandom)
    const [first, second, third, fourth] = [ids.next(), ids.next(), ids.next(), ids.next()]
    assertAscending([first, second, third])
    assert.equal(millisecondsOf(fourth.slice()), now - REQUEST_ID_BACK_MS - 1)
  })

  it('start with the Unix time in 48 bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 48 - 1 }), (ms) => {
        assert.equal(millisecondsOf(requestIds(readings(ms), systemRandom).next()), ms)
      })
    )
    // The example of RFC 9562, appendix A.6: 017F22E2-79B0-7CC3-98C4-DC0C0C07398F has this time.
    const id = requestIds(readings(1_645_557_742_000), zeros).next()
    assert.equal(formatRequestId(id), '017f22e2-79b0-7000-8000-000000000000')
  })

  it('ascend beyond the counter’s range within one millisecond', () => {
    const ids = requestIds(readings(5_000), zeros)
    const made = Array.from({ length: 10_000 }, () => ids.next())
    assertAscending(made)
    assert.equal(millisecondsOf(made.at(-1)!), 5_002)
  })

  it('ascend while the clock goes back', () => {
    const ids = requestIds(readings(5_000, 4_000, 4_500, 3_000, 5_000, 5_001), zeros)
    assertAscending(Array.from({ length: 10 }, () => ids.next()))
  })

  it('ascend with a clock of fractional milliseconds', () => {
    const ids = requestIds(readings(5_000.1, 5_000.4, 5_000.9, 5_001.2, 5_001.3), zeros)
    assertAscending(Array.from({ length: 8 }, () => ids.next()))
  })

  it('share no memory with each other', () => {
    const ids = requestIds(systemClock, systemRandom)
    const [one, two] = [ids.next(), ids.next()]
    const before = formatRequestId(two)
    one.fill(0)
    assert.equal(formatRequestId(two), before)
  })

  it('are formatted with hyphens', () => {
    const id = Uint8Array.from({ length: 16 }, (_, i) => i * 17)
    assert.equal(formatRequestId(id), '00112233-4455-6677-8899-aabbccddeeff')
  })
})
