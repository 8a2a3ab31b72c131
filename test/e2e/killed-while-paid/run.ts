import { requestIds, systemClock, systemRandom } from '../../../lib/index.ts'
import { checkBooks } from './books.ts'
import { planOf } from './plan.ts'
import { World } from './world.ts'

export interface RunInit {
  readonly seed: number
  readonly rounds: number
  /** The number of concurrent callers. */
  readonly callers: number
  /** URL of an empty PostgreSQL database for the owner's books. Default: SQLite. */
  readonly database?: string
  readonly say: (line: string) => void
}

/** Sequential calls after the last kill. The first one may still learn the cost of earlier calls. */
const HEALING_CALLS = 3

/** A complete run: rounds with kills, recovery, settlement on the chain, then the checks of all books. */
export async function run({ seed, rounds, callers, database, say }: RunInit): Promise<string> {
  const plan = planOf(seed, rounds, callers)
  say(`seed ${seed}`)
  const world = await World.create(
    plan.rounds.flatMap(({ callers }) => callers.flat()),
    database
  )
  try {
    await world.owner.start()
    await world.consumer.start()
    for (const [index, round] of plan.rounds.entries()) {
      const startedAt = performance.now()
      await world.play(round)
      const kills = round.kills.map((kill) => `${kill.victim} ${kill.thenMs} ms after ${kill.answered} calls`)
      say(`round ${index}: ${Math.round(performance.now() - startedAt)} ms, killed ${kills.join(', ')}`)
    }
    const ids = requestIds(systemClock, systemRandom)
    for (let i = 0; i < HEALING_CALLS; i++) await world.call(Buffer.from(ids.next()).toString('hex'))
    const refused = await (await world.owner.life).ask<string[]>('settle')
    await world.stop()
    say([...world.heard].map(([what, times]) => `${what} ${times}`).join('\n'))
    return await checkBooks(world, refused)
  } finally {
    await world.close()
  }
}
