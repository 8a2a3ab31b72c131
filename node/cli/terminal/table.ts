/** Aligns columns with two spaces between them, without trailing spaces. */
export function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  )
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

/** One decimal below 100 (`12.3`), else a whole number. */
export function milliseconds(ms: number): string {
  return ms < 100 ? ms.toFixed(1) : String(Math.round(ms))
}
