#!/usr/bin/env node
// Check the version before importing anything newer: an older Node.js would fail without an explanation.
const NODE_MAJOR_MIN = 24
/** sysexits: EX_CONFIG. */
const EXIT_CONFIG = 78
const EXIT_MS = 100
const ALIVE_MS = 2 ** 30

if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
  const advice = `Try: nvm install ${NODE_MAJOR_MIN}, or https://nodejs.org`
  console.error(`souk: This needs Node.js ${NODE_MAJOR_MIN} or newer, and runs on ${process.version}. ${advice}`)
  process.exitCode = EXIT_CONFIG
} else {
  const { exemptLoopback } = await import('./config.ts')
  exemptLoopback()
  const { main } = await import('./cli/program.ts')
  // Timers of the library keep no process alive. Without this one, a command that waits for a block would end.
  const alive = setInterval(() => {}, ALIVE_MS)
  process.exitCode = await main(process.argv.slice(2))
  clearInterval(alive)
  // All work is done, but libp2p leaves a one-second timer. Do not wait for it.
  setTimeout(() => process.exit(), EXIT_MS).unref()
}
