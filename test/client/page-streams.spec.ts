import assert from 'node:assert/strict'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { chromiumPath } from '../helpers/chromium-path.ts'
import { answering, scriptedUpstream } from '../helpers/scripted-upstream.ts'
import { startIngress } from '../node/ingress/harness.ts'
import { bundled } from './bundled.ts'

const CLIENT = join(import.meta.dirname, '../../client/index.ts')

describe('a stream as the input of a call, in a page', () => {
  /** The error of such a call, whether one with a Blob succeeds, and how many reached the ingress. */
  const failed = async (flags: readonly string[]) => {
    const ingress = await startIngress({ corsOrigins: ['*'] })
    const script = await bundled(CLIENT)
    const site = await scriptedUpstream(answering(200, { 'content-type': 'text/javascript' }, script))
    const args = ['--no-sandbox', '--disable-gpu', ...flags]
    const browser = await chromium.launch({ args, executablePath: await chromiumPath(), headless: true })
    const page = await browser.newPage()
    await page.goto(site.url)
    const [error, isOk] = await page.evaluate<[string, boolean]>(`(async () => {
      const { createClient } = await import('${site.url}/client.js')
      const client = createClient({ ingress: '${ingress.url}', key: '${ingress.key}' })
      const stream = new Blob(['a']).stream()
      const done = await client.call('files', '', stream, { path: '/a' }).catch(({ code, message }) => code + ': ' + message)
      const { body } = await client.call('files', '', new Blob(['a']), { path: '/a' })
      return [done, body.ok]
    })()`)
    await browser.close()
    await site.close()
    await ingress.close()
    return { error, isOk, calls: ingress.calls.length }
  }

  it('is refused where the browser would send its name, as Firefox does', async () => {
    const { error, ...others } = await failed(['--disable-blink-features=FetchUploadStreaming'])
    assert.match(error, /^invalid_request: This browser sends no streams. Pass a Blob/)
    assert.deepEqual(others, { isOk: true, calls: 1 })
  })

  it('fails in Chromium by HTTP/1.1, with the reason', async () => {
    const { error, ...others } = await failed([])
    assert.match(error, /^ingress_unreachable: .* Browsers send streams only by HTTP\/2. Pass a Blob/)
    assert.deepEqual(others, { isOk: true, calls: 1 })
  })
})
