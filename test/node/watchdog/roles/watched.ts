/** A process with a watchdog. It prints a line on each turn of its loop. SIGUSR2 makes it hang in the chosen way. */
import { execFileSync } from 'node:child_process'
import { open } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { startWatchdog } from '../../../../node/watchdog/watchdog.ts'

const [kind = '', limitMs = '', ...more] = process.argv.slice(2)

const secret = 'hunter2-must-not-be-shown'
const HANGS: Readonly<Record<string, () => void>> = {
  loop: function loopForEver() {
    for (let turns = secret.length; turns > 0; ) turns = secret.length
  },
  regex: function matchForEver() {
    ;/^(a+)+$/.test(`${'a'.repeat(60)}!`)
  },
  microtasks: function turnMicrotasks() {
    const again = (): Promise<void> => Promise.resolve().then(again)
    void again()
  },
  database: function askDatabase() {
    const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n'
    new DatabaseSync(':memory:').prepare(endless).get()
  },
  /** Also blocks the thread pool, so that not even exit(3) ends the process. */
  pool: function hangThreads() {
    const [fifo = ''] = more
    for (let threads = 0; threads < 4; threads++) open(fifo, 'r', () => {})
    execFileSync('sleep', ['60'])
  },
  /** Blocks for a limited time. */
  while: function blockAWhile() {
    const until = performance.now() + Number(more[0])
    while (performance.now() < until);
  }
}

const watchdog = startWatchdog({
  limitMs: Number(limitMs),
  exitCode: 75,
  onFailure: (error) => console.error('the watchdog failed', error)
})
if (!more.includes('unready')) watchdog.ready()
process.on('SIGUSR2', () => HANGS[kind]?.())
setInterval(() => console.log('turned'), 50)
