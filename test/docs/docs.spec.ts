import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { referencePages } from './reference.ts'

const ROOT = resolve(import.meta.dirname, '../..')

async function pages(): Promise<Map<string, string>> {
  const docs = (await readdir(resolve(ROOT, 'docs'), { recursive: true }))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  const paths = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs]
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(resolve(ROOT, path), 'utf8')] as const))
  )
}

/** GitHub's anchor of a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

describe('the documentation', () => {
  it('says of errors, limits and examples what the code says', async () => {
    for (const [path, page] of await referencePages()) {
      assert.equal(await readFile(resolve(ROOT, path), 'utf8'), page, `run: npm run docs (${path})`)
    }
  })

  it('has no TypeScript that is not a file of docs/examples', async () => {
    for (const [path, page] of await pages()) {
      const blocks = [...page.matchAll(/^(.*)\n```(?:ts|typescript|js|javascript)\n/gm)]
      for (const [, before] of blocks) assert.match(before ?? '', /^<!-- file: examples\/[\w-]+\.ts -->$/, path)
    }
  })

  it('has no link that leads nowhere', async () => {
    let seen = 0
    for (const [path, page] of await pages()) {
      for (const [, target = ''] of page.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        seen++
        const [file = '', fragment] = target.split('#')
        const at = file === '' ? resolve(ROOT, path) : resolve(ROOT, dirname(path), file)
        assert.ok(await stat(at).catch(() => undefined), `${path}: ${target}`)
        if (fragment === undefined) continue
        const headings = [...(await readFile(at, 'utf8')).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchor(text))
        assert.ok(headings.includes(fragment), `${path}: ${target}`)
      }
    }
    assert.ok(seen > 5)
  })
})

describe('the examples', () => {
  const run = promisify(execFile)
  const example = (name: string, ...args: string[]) => ['--conditions=development', `docs/examples/${name}.ts`, ...args]

  it('serve an API from a libp2p node and call it from code', async () => {
    const serving = spawn(process.execPath, example('serve'), { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [line] = (await once(createInterface({ input: serving.stdout }), 'line')) as [string]
      const { join } = JSON.parse(line) as { join: string[] }
      const { stdout } = await run(process.execPath, example('call', ...join), { cwd: ROOT })
      const { status, answer } = JSON.parse(stdout) as { status: number; answer: unknown }
      assert.deepEqual({ status, answer }, { status: 200, answer: { loud: 'HELLO' } })
    } finally {
      serving.kill('SIGKILL')
      await once(serving, 'exit')
    }
  })

  it('test with a network of their own', async () => {
    await run(process.execPath, example('testnet'), { cwd: ROOT })
  })
})
