import { relative } from 'node:path'
import mocha from 'mocha'

const SHOWN = 10

/** Mocha's reporter `spec`, followed by the slowest files: the time of their tests and hooks, without loading. */
class SlowestFiles extends mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options)
    const took = new Map<string, number>()
    const add = ({ file, duration = 0 }: Mocha.Runnable) => {
      if (file !== undefined) took.set(file, (took.get(file) ?? 0) + duration)
    }
    runner.on('test end', add)
    runner.on('hook end', add)
    runner.once('end', () => {
      const slowest = [...took].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN)
      console.log('  the slowest files')
      for (const [file, ms] of slowest) {
        console.log(`  ${(ms / 1_000).toFixed(1).padStart(7)} s  ${relative(process.cwd(), file)}`)
      }
      console.log()
    })
  }
}

// The export for mocha's `require`.
export { SlowestFiles as 'module.exports' }
