import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { chromiumPath } from './chromium-path.ts'
import { PATIENCE_MS_MIN } from './eventually.ts'
import { perWorker } from './per-worker.ts'
import { type Browser, chromium as engine, type BrowserContextOptions, type Download, type Page } from 'playwright-core'

const lease = perWorker(
  async () => {
    const server = await engine.launchServer({
      // Not the package's default flags, which are for single pages in cloud functions and disable web features.
      args: ['--no-sandbox', '--disable-gpu'],
      executablePath: await chromiumPath(),
      headless: true
    })
    return {
      endpoint: server.wsEndpoint(),
      stop: () => server.close(),
      kill: () => void server.process().kill('SIGKILL')
    }
  },
  // Chromium closes the pages of a connection that ends.
  async () => {}
)

export async function openBrowser(): Promise<Browser> {
  const { server, release } = await lease()
  const browser = await engine.connect(server.endpoint)
  const close = browser.close.bind(browser)
  browser.close = async () => {
    await close()
    await release()
  }
  return browser
}

/** Opens a page and records its mishaps: script errors, failed requests, requests to other origins. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {}
): Promise<{ page: Page; mishaps: string[] }> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    // Without a locale in the environment, Chromium reports `en-US@posix`, which scripts cannot parse.
    locale: 'en-US',
    ...options
  })
  context.setDefaultTimeout(PATIENCE_MS_MIN)
  const page = await context.newPage()
  const mishaps: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') mishaps.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => mishaps.push(`script: ${error.message}`))
  page.on('request', (request) => {
    const { protocol, origin: to } = new URL(request.url())
    if (protocol !== 'data:' && to !== origin) mishaps.push(`a request to ${to}`)
  })
  return { page, mishaps }
}

const require = createRequire(import.meta.url)

/**
 * The accessibility violations that axe finds on a page, one per line: all rules in the current colour scheme, contrast in the
 * other.
 */
export async function axeViolations(page: Page): Promise<string[]> {
  const source = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8')
  // Injected by the debugger, because the page's own policy blocks such a script.
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: source })
  const run = async (options: string): Promise<string[]> => {
    const { result } = await session.send('Runtime.evaluate', {
      expression: `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
      awaitPromise: true,
      returnByValue: true
    })
    return result.value as string[]
  }
  const found = await run('')
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)
  const [own, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await page.emulateMedia({ colorScheme: other })
  found.push(...(await run("{ runOnly: ['color-contrast'] }")).map((violation) => `${other}: ${violation}`))
  await page.emulateMedia({ colorScheme: own })
  await session.detach()
  return found
}

/** The content of a file that a page offers for download. */
export async function downloaded(download: Download): Promise<string> {
  return text(await download.createReadStream())
}
