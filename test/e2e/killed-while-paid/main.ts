import { parseArgs } from 'node:util'
import { startPostgres } from '../../helpers/postgres.ts'
import { run } from './run.ts'

/** `node --conditions=development test/e2e/killed-while-paid/main.ts [--seed n] [--rounds n] [--callers n] [--postgres]` */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    rounds: { type: 'string' },
    callers: { type: 'string' },
    postgres: { type: 'boolean' }
  }
})
const number = (text: string | undefined, otherwise: number) => (text === undefined ? otherwise : Number(text))
const seed = number(values.seed, Math.floor(Math.random() * 2 ** 32))
const postgres = values.postgres === true ? await startPostgres() : undefined
const database = postgres === undefined ? {} : { database: await postgres.create() }
try {
  const sizes = { rounds: number(values.rounds, 50), callers: number(values.callers, 200) }
  console.log(await run({ seed, ...sizes, ...database, say: console.log }))
} finally {
  await postgres?.stop()
}
