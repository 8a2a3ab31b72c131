/**
 * Checks the package as users get it: publint and attw on the tarball; every entry point imported from an unpacked copy, with and
 * without `--conditions=development`, which bundlers set; their types, with the settings of embed.md; the command by `npx`; and a node
 * that serves the packaged console.
 */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pack } from './pack.ts'

const run = (command: string, args: string[], cwd = '.') => execFileSync(command, args, { cwd, stdio: 'inherit' })

const scratch = mkdtempSync(join(tmpdir(), 'souk-pack-'))
try {
  const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { name: string }
  run('npm', ['run', '--silent', 'build'])
  const tarball = pack(scratch)
  run('publint', ['run', tarball, '--strict'])
  run('attw', [tarball, '--profile', 'esm-only'])

  const consumer = join(scratch, 'consumer')
  const modules = join(consumer, 'node_modules')
  mkdirSync(modules, { recursive: true })
  run('tar', ['-xzf', tarball, '-C', modules])
  // Node resolves a package's imports from its real path, so its dependencies are linked beside it.
  symlinkSync(resolve('node_modules'), join(modules, 'package', 'node_modules'))
  symlinkSync('package', join(modules, name))
  const manifest = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as {
    exports: Record<string, unknown>
    bin: Record<string, string>
  }
  const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith('.json'))
  for (const entry of entries) {
    const code = `await import('${join(name, entry)}')`
    for (const conditions of [[], ['--conditions=development']]) {
      run('node', [...conditions, '--input-type=module', '--eval', code], consumer)
    }
  }
  checkTypes(
    consumer,
    entries.map((entry) => join(name, entry))
  )

  // The link that npm makes when it installs a package.
  const command = join(modules, name, manifest.bin[name] ?? '')
  mkdirSync(join(modules, '.bin'))
  symlinkSync(command, join(modules, '.bin', name))
  run('npx', ['--no-install', name, '--version'], consumer)
  await checkConsole(command)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Fails if the settings of embed.md leave an error in the types of the package, or of what it imports. */
function checkTypes(consumer: string, modules: string[]): void {
  const [, settings = ''] =
    /```json\n(\{\s+"compilerOptions".*?)```/s.exec(readFileSync('docs/how-to/embed.md', 'utf8')) ?? []
  writeFileSync(join(consumer, 'tsconfig.json'), settings)
  writeFileSync(join(consumer, 'package.json'), '{ "type": "module" }')
  const lines = modules.map((path, at) => `import * as m${at} from '${path}'\nconsole.log(m${at})\n`)
  writeFileSync(join(consumer, 'entries.ts'), lines.join(''))
  symlinkSync(resolve('node_modules/@types'), join(consumer, 'node_modules/@types'))
  run(resolve('node_modules/.bin/tsc'), [], consumer)
}

async function checkConsole(command: string): Promise<void> {
  const ports = ['--p2p-port', '0', '--admin-port', '0', '--no-ingress']
  const node = spawn('node', [command, 'up', '--network', 'dev', '--no-input', '--json', ...ports], {
    env: { ...process.env, SOUK_HOME: join(scratch, 'home') },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  try {
    const [line] = (await once(createInterface({ input: node.stdout }), 'line')) as [string]
    const { admin } = JSON.parse(line) as { admin: string }
    const page = await (await fetch(admin)).text()
    const scripts = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    if (scripts.length === 0) throw new Error('The console has no scripts.')
    for (const path of scripts) {
      const { status } = await fetch(admin + path)
      if (status !== 200) throw new Error(`${path} of the console: ${status}`)
    }
    console.log(`The console is there: ${scripts.join(', ')}`)
  } finally {
    const ended = once(node, 'exit')
    node.kill()
    await ended
  }
}
