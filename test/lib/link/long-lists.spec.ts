import assert from 'node:assert/strict'
import { Uint8ArrayList } from 'uint8arraylist'
import { createNode } from '../../../lib/index.ts'

const PARTS = 5_000

/** A list with parts of one to three bytes, whose bytes count. */
function longList(): Uint8ArrayList {
  const list = new Uint8ArrayList()
  for (let part = 0; part < PARTS; part++) {
    const at = list.byteLength
    list.append(Uint8Array.from({ length: (part % 3) + 1 }, (_, index) => (at + index) % 251))
  }
  return list
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
})
