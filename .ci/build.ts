/**
 * Builds what is published: dist/ holds tsc's output and, at the same relative places, every other file of the source
 * folders (generated `.js` with its `.d.ts`, the built console), so that `new URL('./page.html', import.meta.url)` means
 * the same in the repository and in the package. The console is bundled first: the repository runs it as well.
 */

import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, statSync, symlinkSync } from 'node:fs'

const CONSOLE = 'node/console'

rmSync('dist', { recursive: true, force: true })
run('vite', ['build', CONSOLE, '--config', `${CONSOLE}/vite.config.ts`, '--logLevel', 'warn'])
run('tsc', ['-p', 'tsconfig.build.json'])

for (const folder of ['lib', 'protocols', 'node']) {
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: isShipped })
}

// The command of a checkout, beside those of its dependencies. `npx souk` works without, but has npm install this folder into its
// cache at first, which takes a minute, and look at all of node_modules every time.
rmSync('node_modules/.bin/souk', { force: true })
symlinkSync('../../dist/node/main.js', 'node_modules/.bin/souk')

function run(command: string, options: string[]): void {
  const { status } = spawnSync(command, options, { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

/** Of the console, only what was built. */
function isShipped(path: string): boolean {
  if (path.startsWith(`${CONSOLE}/`)) return path === `${CONSOLE}/built` || path.startsWith(`${CONSOLE}/built/`)
  return statSync(path).isDirectory() || path.endsWith('.d.ts') || !/\.(ts|md)$/.test(path)
}
