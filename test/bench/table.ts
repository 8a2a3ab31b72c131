import type { Ratio } from './suite.ts'

/** Aligned columns: the first to the left, numbers to the right. */
export function renderTable(rows: ReadonlyArray<readonly string[]>): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      widths
        .map((width, column) => {
          const cell = row[column] ?? ''
          return column === 0 ? cell.padEnd(width) : cell.padStart(width)
        })
        .join('  ')
    )
    .join('\n')
}

export function renderRatios(ratios: readonly Ratio[]): string {
  return renderTable(ratios.map((ratio) => [ratio.name, ratio.value.toFixed(2), aimOf(ratio), whatOf(ratio)]))
}

export function whatOf({ of, diskUs }: Ratio): string {
  return diskUs === undefined ? of : `${of}; waits ${Math.round(diskUs)} µs for the disk`
}

export function aimOf({ value, better, aim }: Ratio): string {
  if (aim === undefined) return ''
  const isMet = better === 'lower' ? value <= aim : value >= aim
  return `aim ${better === 'lower' ? '≤' : '≥'} ${aim}: ${isMet ? 'met' : 'short'}`
}
