import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { read } from '../docs/markdown.ts'
import { openBrowser, openPage } from '../helpers/browser.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { compiled } from '../node/types/compiled.ts'
import { bundled } from './bundled.ts'
import { OPENAPI, startApis } from './story/apis.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const MAIN = resolve(import.meta.dirname, 'story/main.ts')
const run = promisify(execFile)

/** Runtimes beside Node.js that this machine has. */
const RUNTIMES: ReadonlyArray<readonly [command: string, ...options: string[]]> = (
  [
    ['bun', 'run'],
    ['deno', 'run', '--allow-net', '--no-lock', '--no-config']
  ] as const
).filter(([command]) => isInstalled(command))

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const TICKS = [1, 2].map((n) => ({ data: { n }, event: 'tick', id: String(n) }))
const NOT_CHARGED = { retryable: false, charged: '0' }
const SEEN = {
  // The nodes of this test move no money.
  balance: [1250.5, '0', 36],
  put: [201, { bytes: 4 }],
  got: [true, [137, 80, 0, 255]],
  replayed: ['0', '0', 'true'],
  ticks: TICKS,
  lines: [{ n: 1 }, { n: 2 }, { n: 3 }],
  tooDear: { code: 'price_exceeds_limit', status: 402, source: 'ingress', ...NOT_CHARGED },
  missing: { code: 'api_error', status: 404, source: 'upstream', ...NOT_CHARGED },
  wrong: { code: 'invalid_request', status: 400, source: 'owner', ...NOT_CHARGED },
  unknown: { code: 'key_invalid', status: 401, source: 'ingress', ...NOT_CHARGED }
}

describe('souk/client at an ingress', () => {
  let home: SoukHome
  let node: HomeNode
  let apis: Awaited<ReturnType<typeof startApis>>
  let pages: Server
  let origin: string
  let script: string
  let key: string

  before(async () => {
    ;[home, apis] = await Promise.all([soukHome(), startApis()])
    pages = createServer(({ url }, response) => {
      const [type, body] = url === '/story.js' ? ['text/javascript', script] : ['text/html', '<!doctype html>']
      response.writeHead(200, { 'content-type': type }).end(body)
    })
    await once(pages.listen(0, '127.0.0.1'), 'listening')
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
    const owner = await home.up('owner', '--no-ingress')
    node = await home.up('consumer', '--cors-origin', origin, '--bootstrap', ...owner.p2p)
    const openapi = join(home.directory, 'openapi.json')
    await writeFile(openapi, JSON.stringify(OPENAPI))
    const register = 'api register --protocol REST --price 0.001'
    await owner.cli(`${register} --name bb-soap-account --endpoint ${apis.url} --openapi ${openapi}`)
    await owner.cli(`${register} --name bb-sse-ticker --endpoint ${apis.url}/ticks`)
    await owner.cli(`${register} --name files --endpoint ${apis.url} --forward-paths`)
    ;({ key } = await node.cli<IssuedKeyView>('key issue'))
  })
  tellWhenFailed(() => home)
  after(async () => {
    pages.close()
    await home.close()
    await apis.close()
  })

  it('works in Node.js', async () => {
    const { stdout } = await run(process.execPath, [MAIN, node.ingress, key])
    assert.deepEqual(JSON.parse(stdout), SEEN)
  })

  for (const [command, ...options] of RUNTIMES) {
    it(`works in ${command}`, async () => {
      const { stdout } = await run(command, [...options, MAIN, node.ingress, key])
      assert.deepEqual(JSON.parse(stdout), SEEN)
    })
  }

  it('works in a page of another origin', async () => {
    script = await bundled(resolve(import.meta.dirname, 'story/story.ts'))
    const browser = await openBrowser()
    try {
      const { page } = await openPage(browser, origin)
      await page.goto(origin)
      const seen = await page.evaluate(
        `import('/story.js').then(({ story }) => story(${JSON.stringify(node.ingress)}, ${JSON.stringify(key)}))`
      )
      assert.deepEqual(seen, SEEN)
      // Nor does the key appear in an address that history and logs would keep.
      const addresses = await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => name).join(' ')`
      )
      assert.ok(typeof addresses === 'string' && addresses.includes(node.ingress) && !addresses.includes('souk_test'))
    } finally {
      await browser.close()
    }
  })

  it('does what its example shows', async () => {
    const { stdout } = await run(
      process.execPath,
      ['--conditions=development', 'docs/examples/client.ts', node.ingress, key],
      {
        cwd: ROOT
      }
    )
    assert.equal(stdout, '{ balance: 1250.5 } 0\n{ n: 1 }\n')
  })

  it('gets its types from the listing', async () => {
    const file = join(home.directory, 'bank.d.ts')
    const { name } = await node.cli<{ name: string }>('types bb-soap-account --out', file)
    assert.equal(name, 'BbSoapAccount')
    const example = await read('docs/examples/client-typed.ts')
    assert.equal(await compiled({ 'bank.d.ts': await readFile(file, 'utf8'), 'client-typed.ts': example }), '')
  })

  it('is as small as its page says', async () => {
    const bytes = gzipSync(await bundled(join(ROOT, 'client/index.ts'))).length
    const [, told] = /\*\*(\d+) kB\*\*/.exec(await read('docs/how-to/client.md')) ?? []
    assert.equal(told, (bytes / 1_000).toFixed(0), `${bytes} bytes`)
  })
})
