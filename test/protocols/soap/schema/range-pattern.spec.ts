import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { canonicalDecimal, compareDecimals } from '../../../../protocols/soap/schema/decimal.ts'
import { atLeastPattern, atMostPattern } from '../../../../protocols/soap/schema/range-pattern.ts'
import { fuzzRuns } from '../../../helpers/fuzz-runs.ts'

/** Few digits, so that equal and neighbouring numbers are frequent. */
const digits = (maxLength: number) => fc.string({ unit: fc.constantFrom('0', '1', '8', '9'), maxLength })
const number = fc
  .tuple(fc.constantFrom('', '-', '+'), digits(4), fc.option(digits(3), { nil: undefined }))
  .map(([sign, whole, fraction]) => `${sign}${whole}${fraction === undefined ? '' : `.${fraction}`}`)
  .filter((text) => canonicalDecimal(text) !== undefined && !/^-[0.]*$/.test(text))

describe('patterns of ranges', () => {
  it('match exactly the numbers within', () => {
    fc.assert(
      fc.property(number, number, fc.boolean(), (text, bound, isOpen) => {
        const order = compareDecimals(canonicalDecimal(text) ?? '', canonicalDecimal(bound) ?? '')
        const expected = { least: isOpen ? order > 0 : order >= 0, most: isOpen ? order < 0 : order <= 0 }
        const least = new RegExp(atLeastPattern(bound, isOpen)).test(text)
        assert.deepEqual({ least, most: new RegExp(atMostPattern(bound, isOpen)).test(text) }, expected)
      }),
      fuzzRuns(1_000)
    )
  })
})
