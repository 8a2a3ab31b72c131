#!/usr/bin/env node
// Nothing newer may be imported before the version is known: an older Node.js would fail on it without a word of help.
const NODE_MAJOR_MIN = 24
/** sysexits: EX_CONFIG. */
const EXIT_CONFIG = 78
const EXIT_MS = 100

if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
  console.error(`souk: This needs Node.js ${NODE_MAJOR_MIN} or newer, and runs on ${process.version}.`)
  console.error(`Try: nvm install ${NODE_MAJOR_MIN}, or https://nodejs.org`)
  process.exitCode = EXIT_CONFIG
} else {
  const { main } = await import('./cli/program.ts')
  process.exitCode = await main(process.argv.slice(2))
  // All is said and stopped by now. libp2p leaves a timer of a second behind, which nobody should have to wait for.
  setTimeout(() => process.exit(), EXIT_MS).unref()
}
