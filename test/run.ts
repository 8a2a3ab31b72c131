/**
 * Runs the specs. `npm test` runs the normal ones, `npm run test:long` those with names ending in `.long.spec.ts`. Options are
 * passed to mocha.
 */

import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

/** Path prefixes of the slowest specs, slowest first. These start first, so that no slow file runs alone at the end. */
const SLOW_FIRST = [
  'test/docs/typed-pages',
  'test/e2e/behind-routers',
  'test/e2e/many-nodes.long',
  'test/lib/store/postgres',
  // These wait most of the time, while others work.
  'test/conformance/',
  'test/node/watchdog/',
  'test/protocols/description-worker/',
  'test/node/console/',
  'test/node/registrations/hostile',
  'test/e2e/',
  'test/lib/pay/channel-',
  'test/node/accounts/',
  'test/sim/',
  'test/node/cli/',
  'test/lib/pay/',
  'test/node/'
]
const isLong = process.argv[2] === 'long'
/**
 * More than the two cores of a small machine, because many tests wait for timers, sockets and processes. Long tests run many
 * processes each.
 */
const jobs = isLong ? 3 : 4
const options = process.argv.slice(isLong ? 3 : 2)
const files = globSync('test/**/*.spec.ts').filter((file) => file.endsWith('.long.spec.ts') === isLong)
const rank = (file: string): number => {
  const found = SLOW_FIRST.findIndex((beginning) => file.startsWith(beginning))
  return found < 0 ? SLOW_FIRST.length : found
}
files.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))

/**
 * Node caches the compiled modules here, so that the hundreds of processes of the tests start in a third of the CPU time. Without it
 * where coverage is measured, because functions of cached code are not counted exactly.
 */
const compileCache =
  process.env.NODE_V8_COVERAGE === undefined ? { NODE_COMPILE_CACHE: resolve('node_modules/.cache/compile') } : {}

const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const child = spawn(process.execPath, [mocha, '--parallel', '--jobs', String(jobs), ...options, ...files], {
  stdio: 'inherit',
  env: { ...process.env, ...compileCache },
  // A separate process group, so that all processes of the tests can be ended.
  detached: true
})
const { pid } = child
const endGroup = () => {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    endGroup()
    process.kill(process.pid, signal)
  })
}
child.once('exit', (code) => {
  endGroup()
  process.exitCode = code ?? 1
})
