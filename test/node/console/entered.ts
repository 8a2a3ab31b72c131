import type { Browser, Page } from 'playwright-core'
import { openPage } from '../../helpers/browser.ts'
import type { Bench } from '../admin/harness.ts'

/** A console page, signed in with a setup code. */
export async function entered(
  browser: Browser,
  bench: Pick<Bench, 'url' | 'client'>
): Promise<{ page: Page; mishaps: string[] }> {
  const { page, mishaps } = await openPage(browser, bench.url)
  await page.goto(bench.url)
  await page.getByLabel('Setup code').fill((await bench.client.request('POST /setup-codes')).code.toLowerCase())
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  return { page, mishaps }
}
