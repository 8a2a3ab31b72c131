import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { between, code, read, ROOT, table } from '../docs/markdown.ts'
import { type Row, ROWS } from './rows.ts'
import type { RowResult } from './run-row.ts'

/** The results of a row's last full run. */
interface Measured extends Pick<RowResult, 'ok' | 'figures'> {
  readonly at: string
  readonly cores: number
}
type Figures = Record<string, Measured>

const FIGURES = resolve(ROOT, 'test/faults/figures.json')
export const PAGE = 'docs/explanation/reliability.md'

async function readFigures(): Promise<Figures> {
  return JSON.parse(await readFile(FIGURES, 'utf8')) as Figures
}

/** Writes new figures; keeps those of other rows. */
export async function writeFigures(measured: Figures): Promise<void> {
  const all = { ...(await readFigures()), ...measured }
  const known = ROWS.filter(({ name }) => all[name] !== undefined).map(({ name }) => [name, all[name]])
  await writeFile(FIGURES, `${JSON.stringify(Object.fromEntries(known), undefined, 2)}\n`)
  await writeFile(resolve(ROOT, PAGE), await reliabilityPage())
}

/** The page with the current table. */
export async function reliabilityPage(): Promise<string> {
  const figures = await readFigures()
  const lines = ROWS.map((row) => [
    `${row.fault} (${code(row.name)})`,
    row.happens,
    row.limit,
    figureCell(row, figures[row.name])
  ])
  return between(await read(PAGE), 'faults', table(['Fault', 'What happens', 'Limit', 'Figure'], lines))
}

function figureCell({ name }: Row, measured: Measured | undefined): string {
  if (measured === undefined) return `not measured yet: ${code(`npm run faults -- ${name}`)}`
  return `${measured.ok ? 'ok' : '**NOT ok**'}: ${figuresText(measured.figures)} (${measured.at}, ${measured.cores} cores)`
}

/** `{ its_slowest_ms: 5 }` → `its slowest ms 5` */
export function figuresText(figures: RowResult['figures']): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value.toLocaleString('en-US')}`)
    .join(', ')
}
