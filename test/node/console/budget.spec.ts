import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const BUILT = resolve(import.meta.dirname, '../../../node/console/built')
const KiB = 1024
/** Bytes that a browser loads before the overview shows: about two seconds on a slow phone connection. */
const FIRST_PAGE_BYTES_MAX = 160 * KiB

describe('built console', () => {
  const gzipped = async (path: string) => gzipSync(await readFile(join(BUILT, path))).length

  /** Files for the first page: the page, its scripts and styles, and their static imports. */
  async function firstFiles(): Promise<Set<string>> {
    const page = await readFile(join(BUILT, 'index.html'), 'utf8')
    const files = new Set(['index.html'])
    const named = [...page.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path = '']) => path)
    for (let path = named.pop(); path !== undefined; path = named.pop()) {
      if (files.has(path)) continue
      files.add(path)
      if (!path.endsWith('.js')) continue
      const code = await readFile(join(BUILT, path), 'utf8')
      // Static imports only. Dynamic imports are calls of `import(`.
      for (const [, next = ''] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
        named.push(`assets/${next}`)
    }
    return files
  }

  it(`shows its first page after at most ${FIRST_PAGE_BYTES_MAX / KiB} KiB`, async () => {
    const files = await firstFiles()
    assert.ok([...files].some((path) => path.endsWith('.js')) && [...files].some((path) => path.endsWith('.css')))
    const sizes = await Promise.all([...files].map(async (path) => [path, await gzipped(path)] as const))
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0)
    const told = sizes.map(([path, bytes]) => `${path} ${bytes}`).join('\n')
    assert.ok(total <= FIRST_PAGE_BYTES_MAX, `${total} bytes:\n${told}`)
  })

  it('loads code of few pages only on demand', async () => {
    const files = await firstFiles()
    const all = (await readdir(join(BUILT, 'assets'))).filter((name) => name.endsWith('.js'))
    const later = all.filter((name) => !files.has(`assets/${name}`)).map((name) => name.replace(/-[^-]+$/, ''))
    for (const name of ['code-editor', 'graphql-editor', 'chart-canvas', 'qr-code', 'register', 'mapping']) {
      assert.ok(
        later.some((one) => one.startsWith(name)),
        `${name} is among the first: ${[...files].join(', ')}`
      )
    }
  })

  it('contains no URLs of other origins', async () => {
    const page = await readFile(join(BUILT, 'index.html'), 'utf8')
    assert.doesNotMatch(page, /https?:|<script(?![^>]*src=)|<style|\son\w+=/)
  })
})
