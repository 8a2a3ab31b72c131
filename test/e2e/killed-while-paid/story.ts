import { run } from './run.ts'

const CALLERS = 200

/** Kills owner and consumer `rounds` times, at moments that a seed determines. */
export function killedWhilePaid(rounds: number): void {
  describe('owner and consumer killed at random while calls are paid', function () {
    this.timeout(rounds * 50_000)

    it('charge nothing twice, lose nothing, and agree with each other and the chain', async () => {
      const seed = Number(process.env['SOUK_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
      const lines: string[] = []
      try {
        lines.push(await run({ seed, rounds, callers: CALLERS, say: (line) => lines.push(line) }))
      } catch (error) {
        console.error(lines.join('\n'))
        throw new Error(`with SOUK_TEST_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error
        })
      }
    })
  })
}
