import assert from 'node:assert/strict'
import { isSoukError } from '../../../../lib/base/errors.ts'
import { DESCRIPTION_READ_MS } from '../../../../lib/base/limits/descriptions.ts'
import { HOSTILE } from './hostile-wsdls.ts'
import { soapBench } from '../soap-kit.ts'

/** Time for starting the worker process on a busy machine. */
const SLACK_MS = 20_000
/** An expensive call ends at its own limit, after five seconds of CPU time. */
const CALL_MS = 40_000

/** Each WSDL is registered, and called if it is accepted. */
export function endsWithinLimits(names: readonly string[]): void {
  for (const name of names) {
    const make = HOSTILE[name] ?? assert.fail(name)
    it(name, async function () {
      const { files, refused, warning, calls = [] } = make()
      this.timeout(DESCRIPTION_READ_MS + SLACK_MS + calls.length * CALL_MS)
      const opening = soapBench(files)
      if (refused !== undefined) {
        await assert.rejects(opening, (error) => {
          assert(isSoukError(error), String(error))
          assert.match(error.message, refused)
          assert(error.status >= 400 && error.status < 500, error.code)
          return true
        })
        return
      }
      await using bench = await opening
      if (warning !== undefined) assert.match(bench.inspection.warnings.join('\n'), warning)
      for (const call of calls) {
        const outcome = await bench.call({ operation: 'echo', ...call }).catch((error: unknown) => error)
        if (outcome instanceof Error) assert(isSoukError(outcome) && outcome.code !== 'internal_error', String(outcome))
      }
    })
  }
}
