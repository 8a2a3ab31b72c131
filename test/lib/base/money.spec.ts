import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { formatUsdc, parseUsdc } from '../../../lib/base/money.ts'

const ATOMS_MAX = 10n ** 15n

describe('money', () => {
  it('parses every formatted amount back unchanged', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: ATOMS_MAX }), (atoms) => assert.equal(parseUsdc(formatUsdc(atoms)), atoms))
    )
  })

  it('formats the shortest decimal string', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: ATOMS_MAX }), (atoms) => {
        assert.match(formatUsdc(atoms), /^(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/)
      })
    )
    for (const [atoms, text] of [
      [0n, '0'],
      [1n, '0.000001'],
      [1_500n, '0.0015'],
      [1_000_000n, '1'],
      [1_230_000n, '1.23'],
      [-1_500n, '-0.0015'],
      [ATOMS_MAX, '1000000000']
    ] as const) {
      assert.equal(formatUsdc(atoms), text)
    }
  })

  it('parses decimals without floats', () => {
    for (const [text, atoms] of [
      ['0', 0n],
      ['0.0', 0n],
      ['0.1', 100_000n],
      ['0.10', 100_000n],
      ['0.000001', 1n],
      ['12', 12_000_000n],
      ['999999999.999999', 999_999_999_999_999n],
      ['1000000000', ATOMS_MAX]
    ] as const) {
      assert.equal(parseUsdc(text), atoms)
    }
  })

  it('rejects any other text', () => {
    const notDecimal = ['', ' ', '-1', '+1', '1e3', '0x10', '1_000', '1,5', '.5', '5.', '01', '00', '1.2.3', '١']
    const notPlain = ['NaN', 'Infinity', ' 1', '1 ', '1\n', '1\0']
    const outOfRange = ['1.0000001', '1000000000.000001', '9999999999', '99999999999', '9'.repeat(10_000)]
    for (const text of [...notDecimal, ...notPlain, ...outOfRange])
      assert.throws(() => parseUsdc(text), { code: 'invalid_request' }, JSON.stringify(text))
  })

  it('repeats at most a line of a rejected text', () => {
    assert.throws(
      () => parseUsdc('x'.repeat(10_000)),
      ({ message }: Error) => message.length < 200
    )
  })
})
