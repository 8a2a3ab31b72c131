import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/**
 * Packs the built package, and returns the path of the tarball. It packs a copy, because `prepack` changes package.json.
 * @param directory where the tarball is written
 */
export function pack(directory: string): string {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string
    version: string
    files: string[]
  }
  const stage = mkdtempSync(join(tmpdir(), 'souk-stage-'))
  try {
    for (const path of ['package.json', 'README.md', 'LICENSE', ...manifest.files]) {
      cpSync(join(ROOT, path), join(stage, path), { recursive: true })
    }
    execFileSync(process.execPath, [join(ROOT, '.ci/manifest.ts'), 'pack'], { cwd: stage })
    const options = ['--ignore-scripts', '--silent', '--pack-destination', directory]
    execFileSync('npm', ['pack', ...options], { cwd: stage, stdio: 'inherit' })
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
  return join(directory, `${manifest.name}-${manifest.version}.tgz`)
}
