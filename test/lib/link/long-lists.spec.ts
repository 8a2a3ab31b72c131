import assert from 'node:assert/strict'
import { Uint8ArrayList } from 'uint8arraylist'
import { createNode } from '../../../lib/index.ts'

const PARTS = 5_000

/** A list with parts of one to three bytes, whose bytes count. */
function longList(): Uint8ArrayList {
  const parts: Uint8Array[] = []
  let at = 0
  for (let part = 0; part < PARTS; part++) {
    parts.push(Uint8Array.from({ length: (part % 3) + 1 }, (_, index) => (at + index) % 251))
    at += (part % 3) + 1
  }
  return new Uint8ArrayList(...parts)
}

describe('long lists of received bytes', () => {
  // A node changes the lists of its process.
  before(() => createNode())

  for (const [what, bytes] of [
    ['the end of a part', 6 * 1_500],
    ['the middle of a part', 6 * 1_500 + 2],
    ['less than the first part', 0.5],
    ['no bytes', 0],
    ['fewer than none', -1],
    ['no number', Number.NaN],
    ['all but one byte', 2 * PARTS - 2]
  ] as const) {
    it(`keep the rest: ${what}`, () => {
      const list = longList()
      const rest = list.slice(Math.max(0, Math.trunc(bytes) || 0))
      list.consume(bytes)
      assert.equal(list.byteLength, rest.length)
      assert.deepEqual(list.slice(), rest)
    })
  }

  it('are empty after all bytes and more', () => {
    for (const more of [0, 1]) {
      const list = longList()
      list.consume(list.byteLength + more)
      assert.equal(list.byteLength, 0)
      assert.equal(list.slice().length, 0)
    }
  })

  it('lose their parts at once, because each removal moves all others', () => {
    const list = longList()
    const parts = Reflect.get(list, 'bufs') as Uint8Array[]
    let removals = 0
    parts.shift = () => {
      removals++
      return Array.prototype.shift.call(parts) as Uint8Array | undefined
    }
    list.consume(list.byteLength - 1)
    assert.ok(removals <= 1, `${removals} removals`)
    assert.equal(list.byteLength, 1)
  })

  for (const [what, partsOf] of [
    ['one by one', (part: Uint8Array) => [part]],
    ['in lists', (part: Uint8Array) => [new Uint8ArrayList(part.subarray(0, 1), part.subarray(1, 2), part.subarray(2))]]
  ] as const) {
    it(`join small parts that are appended ${what}`, () => {
      const list = new Uint8ArrayList()
      const sent: Uint8Array[] = []
      for (let n = 0; n < PARTS; n++) {
        const part = Uint8Array.of(n, n >> 8, 7)
        sent.push(part)
        list.append(...partsOf(part))
      }
      const parts = Reflect.get(list, 'bufs') as Uint8Array[]
      assert.ok(parts.length < PARTS / 10, `${parts.length} parts`)
      assert.deepEqual(Buffer.from(list.slice()), Buffer.concat(sent))
      assert.equal(list.byteLength, 3 * PARTS)
    })
  }

  it('keep large parts as they are', () => {
    const list = new Uint8ArrayList()
    const part = new Uint8Array(1_000)
    for (let n = 0; n < PARTS; n++) list.append(part)
    for (const kept of list) assert.equal(kept, part)
  })
})
