import { columnsOf, cutTo, safeLine } from './text.ts'

/** A column of a list. */
export interface Column<Row> {
  readonly head: string
  readonly of: (row: Row) => string
  /** The short form of a long id. `--wide` shows `of`. */
  readonly short?: (row: Row) => string
  /** Without `--wide`, the text may be cut to this many characters. */
  readonly least?: number
  /** Only `--wide` shows the column. */
  readonly isExtra?: true
}

/** The width of a terminal that nobody resized. Pipes get the same, so that output does not depend on the place. */
const LINE_CHARS = 80
/** A terminal may be narrower than the least widths of all columns. Then each may be cut to this many characters. */
const CELL_CHARS_MIN = 8
const GAP = '  '

export interface Layout {
  /** All columns with full texts. */
  readonly isWide: boolean
  /** Width of the terminal. Undefined where stdout is none. */
  readonly columns?: number | undefined
}

/**
 * Lists rows in lines of at most 80 characters, less in a narrower terminal, or of any length if `isWide`. At least two spaces separate two cells; no cell is empty
 * or contains two spaces, so scripts can split the lines.
 */
export function table<Row>(
  rows: readonly Row[],
  columns: ReadonlyArray<Column<Row>>,
  { isWide, columns: width = LINE_CHARS }: Layout
): string[] {
  if (rows.length === 0) return []
  const shown = isWide ? columns : columns.filter(({ isExtra }) => isExtra !== true)
  const cells = shown.map(({ head, of, short = of }) => [head, ...rows.map(isWide ? of : short).map(cellText)])
  const natural = cells.map(widest)
  const widths = isWide ? natural : fitted(natural, shown, Math.min(LINE_CHARS, width))
  const cut = cells.map((column, at) => column.map((cell) => cutTo(cell, widths[at] ?? 0)))
  // Cutting drops the space before the cut, so a column may get narrower than its share.
  const final = cut.map(widest)
  return [undefined, ...rows].map((_, line) =>
    cut
      .map((column, at) => padded(column[line] ?? '', final[at] ?? 0))
      .join(GAP)
      .trimEnd()
  )
}

/** Takes from the last column that can be cut, then from those before it, until the line fits: names and ids come first. */
function fitted<Row>(natural: readonly number[], columns: ReadonlyArray<Column<Row>>, lineChars: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - lineChars
  for (const most of [Infinity, CELL_CHARS_MIN]) {
    for (const [at, { least = Infinity, head }] of [...columns.entries()].toReversed()) {
      const bound = least === Infinity ? Infinity : Math.max(Math.min(least, most), head.length)
      const taken = Math.min(Math.max(0, excess), Math.max(0, (widths[at] ?? 0) - bound))
      widths[at] = (widths[at] ?? 0) - taken
      excess -= taken
    }
  }
  return widths
}

function cellText(text: string): string {
  const line = safeLine(text)
  return line === '' ? '-' : line
}

function widest(cells: readonly string[]): number {
  return Math.max(...cells.map(columnsOf))
}

function padded(cell: string, columns: number): string {
  return cell + ' '.repeat(columns - columnsOf(cell))
}

/** `name  value` lines with aligned values. */
export function facts(pairs: ReadonlyArray<readonly [name: string, value: string]>): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
}

/** `2026-11-21 11:12` in UTC, or a dash. */
export function moment(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}

/** `2026-11-21` in UTC, or a dash. */
export function day(ms: number | null): string {
  return moment(ms).slice(0, 10)
}

/** One decimal below 100 (`12.3`), else a whole number. */
export function milliseconds(ms: number): string {
  return ms < 100 ? ms.toFixed(1) : String(Math.round(ms))
}
