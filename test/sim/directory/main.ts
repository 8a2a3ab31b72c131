import { parseArgs } from 'node:util'
import { simulateDirectory } from './simulate.ts'

const { values } = parseArgs({ options: { nodes: { type: 'string', default: '1000' } } })
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const { missed, ...figures } = await simulateDirectory(Number(values.nodes), print)
print(JSON.stringify(figures))
for (const line of missed) print(`not found: ${line}`)
process.exitCode = missed.length + figures.untold > 0 ? 1 : 0
