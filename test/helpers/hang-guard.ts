import { startWatchdog } from '../../node/watchdog/watchdog.ts'

/**
 * A test that never gives the event loop back meets no time limit of mocha's. The node's own watchdog says where the process is, and
 * ends it. Every mocha process loads this file. A fuzzer with more runs than usual may take as long as it likes.
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
