import { readFileSync } from 'node:fs'
import type { Ratio, SuiteReport } from './suite.ts'
import { aimOf, whatOf } from './table.ts'

/** The last line of `npm run bench -- --json`. */
export interface Summary {
  readonly ratios: Readonly<Record<string, number>>
  readonly suites: Readonly<Record<string, unknown>>
  readonly reports: Readonly<Record<string, SuiteReport>>
  readonly machine: { readonly node: string; readonly cpu: string; readonly cores: number }
}

/** The figures of a run as Markdown, for docs/explanation/performance.md. */
export function renderPage({ reports, machine }: Summary): string {
  const { node, cpu, cores } = machine
  const parts = Object.entries(reports).flatMap(([name, { ratios, table, notes }]) => [
    `### \`npm run bench -- ${name}\``,
    rowsOf([['Ratio', 'Value', 'Aim', 'Of'], ...ratios.map(rowOf)]),
    rowsOf(table),
    notes.join('\n')
  ])
  return [`${cpu || 'CPU unknown'}, ${cores} cores, Node.js ${node.slice(1)}.`, ...parts].join('\n\n')
}

function rowOf(ratio: Ratio): string[] {
  // JSON has null for a ratio without measurements.
  const value = Number.isFinite(ratio.value) ? ratio.value.toFixed(2) : '–'
  return [`\`${ratio.name}\``, value, aimOf(ratio), whatOf(ratio)]
}

function rowsOf([heading = [], ...rows]: SuiteReport['table']): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heading), line(heading.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join(
    '\n'
  )
}

/** `npm run bench -- --json >run.txt`, then `npm run bench:page -- run.txt`. */
if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (file === undefined) throw new Error('usage: npm run bench:page -- FILE')
  const last = readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? ''
  console.log(renderPage(JSON.parse(last) as Summary))
}
