import { startWatchdog } from '../../node/watchdog/watchdog.ts'

/**
 * Mocha's time limits do not stop a test that blocks the event loop. The node's own watchdog prints the position of the process
 * and ends it. Every mocha process loads this file. A fuzzer with extra runs has no limit.
 */
if (process.env['FUZZ_RUNS'] === undefined) {
  startWatchdog({
    limitMs: 60_000,
    exitCode: 1,
    onFailure: (error) => {
      throw error
    }
  }).ready()
}
