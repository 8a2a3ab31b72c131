import { parseArgs } from 'node:util'
import { run } from './run.ts'

/** `node --conditions=development test/e2e/killed-while-paid/main.ts [--seed n] [--rounds n] [--calls n]` */
const { values } = parseArgs({
  options: { seed: { type: 'string' }, rounds: { type: 'string' }, calls: { type: 'string' } }
})
const number = (text: string | undefined, otherwise: number) => (text === undefined ? otherwise : Number(text))
const seed = number(values.seed, Math.floor(Math.random() * 2 ** 32))
const story = await run({ seed, rounds: number(values.rounds, 50), calls: number(values.calls, 200), say: console.log })
console.log(story)
