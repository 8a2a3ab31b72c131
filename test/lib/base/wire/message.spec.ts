import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import protobuf from 'protobufjs'
import { bytes, hex, list, nonEmpty, optional, text, uint32, uint53, uint64 } from '../../../../lib/base/wire/field.ts'
import { fixedMessage, message, nested } from '../../../../lib/base/wire/message.ts'
import { union } from '../../../../lib/base/wire/union.ts'
import { tables } from '../../../docs/pages/proto.ts'

const INNER = message('Inner', '', { id: uint53(1), name: optional(text(2)) })
const OUTER = message('Outer', '', {
  inner: nested(INNER, 1),
  inners: list(nested(INNER, 2), 2),
  numbers: list(uint32(3), 2),
  key: nonEmpty(text(4)),
  amount: uint64(5)
})

describe('a message made from a table', () => {
  it('has nested messages of every length', () => {
    fc.assert(
      fc.property(fc.nat(70_000), (length) => {
        const value = { inner: { id: 1, name: 'é'.repeat(length) }, inners: [], numbers: [], amount: 0n }
        assert.deepEqual(OUTER.decode(OUTER.encode(value)), value)
      }),
      { numRuns: 30, examples: [[63], [64], [8_191], [8_192]] }
    )
  })

  it('reads 64-bit numbers as protobufjs does', () => {
    const type = new protobuf.Type('Amount').add(new protobuf.Field('amount', 5, 'uint64'))
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (amount) => {
        const encoded = OUTER.encode({ inners: [], numbers: [], amount })
        const theirs = type.toObject(type.decode(encoded), { longs: String, defaults: true })
        assert.equal(theirs['amount'], String(amount))
        assert.equal(OUTER.decode(encoded).amount, amount)
      }),
      { examples: [[2n ** 49n - 1n], [2n ** 49n], [2n ** 53n], [2n ** 63n], [2n ** 64n - 1n]] }
    )
    assert.throws(() => OUTER.decode(Uint8Array.of(40, ...new Uint8Array(10).fill(255))), RangeError)
  })

  it('ignores unknown fields, and keeps the last of several values', () => {
    const value = { inners: [], numbers: [], amount: 7n }
    assert.deepEqual(OUTER.decode(Uint8Array.of(0xf8, 0x06, 1, 40, 3, 0x2a, 1, 65, 40, 7)), value)
  })

  it('is refused with a list over its bound, in whatever place its items are', () => {
    assert.deepEqual(OUTER.decode(Uint8Array.of(24, 1, 40, 1, 24, 2)).numbers, [1, 2])
    assert.throws(() => OUTER.decode(Uint8Array.of(24, 1, 40, 1, 24, 2, 24, 3)), /list is too long/)
    assert.throws(() => OUTER.decode(Uint8Array.of(18, 0, 18, 0, 18, 0)), /list is too long/)
  })

  it('is refused when a field ends outside of its message', () => {
    for (const encoded of [
      [10, 3, 18, 2, 65, 65],
      [10, 2, 18, 1, 65],
      [34, 9, 65],
      [40],
      [40, 128],
      [0x7d, 1],
      [0x79, 1]
    ])
      assert.throws(() => OUTER.decode(Uint8Array.from(encoded)), RangeError, encoded.join())
  })

  it('shares no list between its values', () => {
    const [one, two] = [OUTER.decode(Uint8Array.of(24, 1)), OUTER.decode(Uint8Array.of())]
    assert.deepEqual([one.numbers, two.numbers], [[1], []])
  })

  it('needs its required fields, of their length', () => {
    const CHANNEL = message('Channel', '', { id: hex(1, 2), signature: bytes(2) })
    assert.deepEqual(CHANNEL.decode(Uint8Array.of(10, 2, 0xab, 1)), { id: '0xab01', signature: new Uint8Array(0) })
    for (const encoded of [[], [18, 1, 1], [10, 1, 1], [10, 3, 1, 2, 3]])
      assert.throws(() => CHANNEL.decode(Uint8Array.from(encoded)), RangeError, encoded.join())
    assert.throws(() => CHANNEL.encode({ id: '0xab', signature: new Uint8Array(0) }), { code: 'invalid_request' })
  })

  it('of fixed shape has every property, also as a kind of a union', () => {
    const FIXED = fixedMessage('Fixed', '', { id: uint53(1), name: optional(text(2)), key: nonEmpty(text(3)) })
    assert.deepEqual(Object.keys(FIXED.decode(Uint8Array.of())), ['id', 'name', 'key'])
    const EITHER = union('Either', '', { fixed: [1, FIXED], inner: [2, INNER] })
    const value = { kind: 'fixed', id: 0, name: '', key: undefined } as const
    assert.deepEqual(EITHER.decode(EITHER.encode(value)), value)
    assert.deepEqual(Object.keys(EITHER.decode(Uint8Array.of(10, 0)) ?? {}), ['kind', 'id', 'name', 'key'])
    assert.equal(EITHER.decode(Uint8Array.of(26, 0)), undefined)
    assert.throws(() => EITHER.decode(Uint8Array.of(8, 1)), RangeError)
  })
})

describe('the tables of messages', () => {
  it('number their fields in ascending order, and use no reserved number', () => {
    for (const table of tables()) {
      if ('kinds' in table) continue
      const numbers = Object.values(table.fields).map(({ number }) => number)
      assert.deepEqual(
        numbers,
        [...new Set(numbers)].toSorted((a, b) => a - b),
        table.name
      )
      assert.ok(!numbers.some((number) => table.reserved.includes(number)), table.name)
    }
  })
})
