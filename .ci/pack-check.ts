/**
 * Checks the package as users get it: publint and attw on the packed tarball, then every entry point imported from an
 * unpacked copy, plainly and under `--conditions=development` (which bundlers set by themselves).
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const run = (command: string, args: string[], cwd = '.') => execFileSync(command, args, { cwd, stdio: 'inherit' })

const scratch = mkdtempSync(join(tmpdir(), 'souk-pack-'))
try {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string; version: string }
  run('npm', ['pack', '--silent', '--pack-destination', scratch])
  const tarball = join(scratch, `${name}-${version}.tgz`)
  run('publint', ['run', tarball, '--strict'])
  run('attw', [tarball, '--profile', 'esm-only'])

  const modules = join(scratch, 'consumer', 'node_modules')
  mkdirSync(modules, { recursive: true })
  run('tar', ['-xzf', tarball, '-C', modules])
  // Node resolves a package's own imports from its real place, so its dependencies are linked beside it.
  symlinkSync(resolve('node_modules'), join(modules, 'package', 'node_modules'))
  symlinkSync('package', join(modules, name))
  const manifest = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>
  }
  for (const entry of Object.keys(manifest.exports)) {
    if (entry.endsWith('.json')) continue
    const code = `await import('${join(name, entry)}')`
    for (const conditions of [[], ['--conditions=development']]) {
      run('node', [...conditions, '--input-type=module', '--eval', code], join(scratch, 'consumer'))
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
