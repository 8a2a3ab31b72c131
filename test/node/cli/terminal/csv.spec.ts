import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { type Cell, csvLine } from '../../../../node/cli/terminal/csv.ts'
import { timeAgoOrAt } from '../../../../node/cli/options/time-option.ts'

/** Parses one record according to RFC 4180. */
function parse(line: string): string[] {
  assert.ok(line.endsWith('\r\n'))
  const cells: string[] = []
  let rest = line.slice(0, -2)
  for (;;) {
    const match = /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|$)/.exec(rest)
    assert.ok(match, `no cell at ${JSON.stringify(rest)}`)
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    rest = rest.slice(match[0].length)
    if (match[3] !== ',') return cells
  }
}

describe('CSV', () => {
  it('follows RFC 4180 for any cell content', () => {
    const cells = fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(cells, (texts) => {
        const read = parse(csvLine(texts))
        assert.deepEqual(
          read.map((text) => text.replace(/^'(?=[=+\-@\t\r\n])/, '')),
          texts.map((text) => text.replace(/^'(?=[=+\-@\t\r\n])/, ''))
        )
      })
    )
  })

  it('quotes only cells that need quotes', () => {
    const cells: Cell[] = ['plain', 'a,b', 'say "hi"', 'two\nlines', 7, null, '']
    assert.equal(csvLine(cells), 'plain,"a,b","say ""hi""","two\nlines",7,,\r\n')
  })

  it('contains no formulas for spreadsheets', () => {
    for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("http://x","y")']) {
      const [cell] = parse(csvLine([formula]))
      assert.ok(cell?.startsWith("'"), formula)
    }
    assert.deepEqual(parse(csvLine(['0.001', -1])), ['0.001', '-1'])
  })
})

describe('times on the command line', () => {
  it('are a day, a time, or an age', () => {
    const at = (iso: string) => Date.parse(iso)
    assert.equal(timeAgoOrAt('2026-11-21'), at('2026-11-21T00:00:00Z'))
    assert.equal(timeAgoOrAt('2026-11-21T10:00'), at('2026-11-21T10:00:00Z'))
    assert.equal(timeAgoOrAt('2026-11-21T10:00:30.5Z'), at('2026-11-21T10:00:30.500Z'))
    assert.equal(timeAgoOrAt('2026-11-21T10:00+02:00'), at('2026-11-21T08:00:00Z'))
    assert.equal(timeAgoOrAt('2024-02-29'), at('2024-02-29T00:00:00Z'))
    const then = timeAgoOrAt('2h')
    const ago = Date.now() - then
    assert.ok(ago >= 7_200_000 && ago < 7_260_000)
  })

  for (const typed of [
    '',
    'yesterday',
    '2026',
    '2026-13-01',
    '2026-02-30',
    '2026-11-21T25:00',
    '0d',
    '-1d',
    '1e3',
    '7w'
  ]) {
    it(`are not "${typed}"`, () => {
      assert.throws(() => timeAgoOrAt(typed), { code: 'commander.invalidArgument' })
    })
  }
})
