import { parseArgs } from 'node:util'
import { simulateDirectory } from './simulate.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    /** The same seed gives the same network. */
    seed: { type: 'string', default: '1' },
    /** Prints the log of lookups that take longer, in milliseconds. */
    slow: { type: 'string', default: 'Infinity' }
  }
})
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const plan = { nodes: Number(values.nodes), seed: Number(values.seed), slowMs: Number(values.slow) }
const { missed, ...figures } = await simulateDirectory(plan, print)
print(JSON.stringify(figures))
for (const line of missed) print(`not found: ${line}`)
process.exitCode = missed.length + figures.untold > 0 ? 1 : 0
