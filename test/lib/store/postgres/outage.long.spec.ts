import { within } from '../../../helpers/eventually.ts'
import type { CommitFault } from '../../../helpers/postgres-proxy.ts'
import { outageBench } from './outage-bench.ts'
import { checkBooks, startLoad } from './outage-load.ts'

/** These faults are noticed by a time limit only. */
describe('a connection to PostgreSQL that stays open and silent', () => {
  const bench = outageBench()
  const { open } = bench

  const faults: ReadonlyArray<readonly [CommitFault, string]> = [
    ['swallowed', 'writes everything once if it swallows a COMMIT'],
    ['silent', 'writes everything once if it never reports a COMMIT'],
    ['late', 'writes nothing of a COMMIT that arrives after the process reconnected']
  ]
  for (const [fault, what] of faults) {
    it(what, async () => {
      const load = startLoad([await open(bench.proxy.through(bench.url))])
      await load.progress()
      await within('a commit', 20_000, bench.proxy.fail(fault))
      await load.progress()
      if (fault === 'late') {
        bench.proxy.release()
        await load.progress()
      }
      await load.stop()
      await checkBooks(await open(), load)
    })
  }
})
