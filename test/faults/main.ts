import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { figuresText, writeFigures } from './figures.ts'
import { ROWS } from './rows.ts'
import { runRow } from './run-row.ts'

/** `npm run faults [-- NAME…] [--short]`: `--short` uses the duration of `npm test`, and writes no figures. */
const { values, positionals } = parseArgs({ options: { short: { type: 'boolean' } }, allowPositionals: true })
const isShort = values.short === true
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const unknown = positionals.filter((name) => !ROWS.some((row) => row.name === name))
if (unknown.length > 0) {
  print(`There is no row ${unknown.join(', ')}. There are: ${ROWS.map(({ name }) => name).join(', ')}`)
  process.exit(64)
}

// A row ends with this process: `exit` kills its group.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

for (const row of ROWS) {
  if (positionals.length > 0 && !positionals.includes(row.name)) continue
  const { ok, figures, why } = await runRow(row, isShort)
  print(`${row.name}: ${figuresText(figures)}: ${ok ? 'ok' : 'NOT ok'}`)
  if (!ok) {
    print(why)
    process.exitCode = 1
  }
  const at = new Date().toISOString().slice(0, 10)
  if (!isShort) await writeFigures({ [row.name]: { ok, at, cores: availableParallelism(), figures } })
}
