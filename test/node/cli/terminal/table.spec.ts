import assert from 'node:assert/strict'
import { type Column, table } from '../../../../node/cli/terminal/table.ts'

interface Row {
  readonly name: string
  readonly price: string
  readonly about: string
}

const COLUMNS: ReadonlyArray<Column<Row>> = [
  { head: 'NAME', of: ({ name }) => name, least: 20 },
  { head: 'PRICE', of: ({ price }) => price },
  { head: 'ABOUT', of: ({ about }) => about, least: 12 }
]
const ROWS: readonly Row[] = [{ name: 'n'.repeat(60), price: '123456.123456', about: 'word '.repeat(40) }]
const widest = (lines: readonly string[]) => Math.max(...lines.map((line) => line.length))

describe('a table', () => {
  for (const [columns, most] of [
    [undefined, 80],
    [200, 80],
    [60, 60],
    [40, 40],
    [20, 33]
  ] as const) {
    it(`has lines of at most ${most} characters in a terminal of ${columns ?? 'unknown'} columns`, () => {
      const lines = table(ROWS, COLUMNS, { isWide: false, columns })
      assert.ok(widest(lines) <= most, lines.join('\n'))
      assert.ok(lines[1]?.includes('123456.123456'), 'a value that must not be cut')
    })
  }

  it('is not cut if it is wide', () => {
    assert.ok(widest(table(ROWS, COLUMNS, { isWide: true, columns: 40 })) > 200)
  })
})
