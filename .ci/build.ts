/**
 * Builds what is published: dist/ holds tsc's output and, at the same relative places, every other file of the source
 * folders (generated `.js` with its `.d.ts`, the console's pages), so that `new URL('./page.html', import.meta.url)` means
 * the same in the repository and in the package.
 */

import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, statSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
const tsc = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
if (tsc.status !== 0) process.exit(1)

for (const folder of ['lib', 'protocols', 'node']) {
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: (path) => statSync(path).isDirectory() || isAsset(path) })
}

function isAsset(path: string): boolean {
  return path.endsWith('.d.ts') || !/\.(ts|md)$/.test(path)
}
