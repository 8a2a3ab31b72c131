/**
 * Builds the package. dist/ contains the output of tsc and, at the same relative paths, every other file of the source folders:
 * generated `.js` with its `.d.ts`, and the built console. So `new URL('./page.html', import.meta.url)` works alike in the
 * repository and in the package. The console is bundled first, because the repository uses it as well.
 */

import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync, statSync, symlinkSync } from 'node:fs'

const CONSOLE = 'node/console'
const COMMAND = 'dist/node/main.js'

rmSync('dist', { recursive: true, force: true })
run('vite', ['build', CONSOLE, '--config', `${CONSOLE}/vite.config.ts`, '--logLevel', 'warn'])
run('tsc', ['-p', 'tsconfig.build.json'])

for (const folder of ['lib', 'protocols', 'node']) {
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: isShipped })
}

// npm makes a command executable when it installs a package, but not in the package's own checkout.
chmodSync(COMMAND, 0o755)
// So the checkout has the command in node_modules/.bin, like any package that depends on it.
rmSync('node_modules/.bin/souk', { force: true })
symlinkSync(`../../${COMMAND}`, 'node_modules/.bin/souk')

function run(command: string, options: string[]): void {
  const { status } = spawnSync(command, options, { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

/** Only the built part of the console is shipped. */
function isShipped(path: string): boolean {
  if (path.startsWith(`${CONSOLE}/`)) return path === `${CONSOLE}/built` || path.startsWith(`${CONSOLE}/built/`)
  return statSync(path).isDirectory() || path.endsWith('.d.ts') || !/\.(ts|md)$/.test(path)
}
