import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { EMPTY_BYTES, equalInConstantTime, sha256, text, utf8 } from '../../../lib/base/bytes.ts'
import { fraction, type Random, systemRandom } from '../../../lib/base/random.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('bytes', () => {
  it('encode and decode a text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => value.startsWith('\ufeff') || text(utf8(value)) === value)
    )
    assert.equal(text(EMPTY_BYTES), '')
  })

  it('decode invalid UTF-8 to replacement characters without an exception', () => {
    assert.equal(text(Uint8Array.of(0x61, 0xff, 0xc0, 0x80)), 'a\ufffd\ufffd\ufffd')
  })

  it('drop a byte order mark, which JSON parsers reject', () => {
    assert.equal(text(Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)), '{}')
  })

  it('hash as in FIPS 180-4', () => {
    assert.equal(hex(sha256(utf8('abc'))), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    assert.equal(hex(sha256(EMPTY_BYTES)), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })

  it('are compared in full length', () => {
    assert.ok(equalInConstantTime(utf8('same'), utf8('same')))
    assert.ok(equalInConstantTime(EMPTY_BYTES, EMPTY_BYTES))
    for (const other of ['sama', 'tame', 'sam', 'same ', '']) {
      assert.equal(equalInConstantTime(utf8('same'), utf8(other)), false)
    }
  })
})

describe('randomness', () => {
  const filled = (byte: number): Random => ({ fill: (target) => target.fill(byte) })

  it('fills every byte it is given', () => {
    const target = new Uint8Array(4_096)
    assert.equal(systemRandom.fill(target), target)
    assert.ok(new Set(target).size > 200)
  })

  it('gives fractions from 0 up to, but not including, 1', () => {
    assert.equal(fraction(filled(0)), 0)
    assert.ok(fraction(filled(0xff)) < 1)
    assert.ok(fraction(filled(0xff)) > 0.999)
    assert.equal(fraction(filled(0x80)), 0x808080808080 / 2 ** 48)
  })
})
