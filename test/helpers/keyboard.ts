import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** More than any page has. */
const STOPS_MAX = 150

/** Presses Tab until the focus is on something of that role and name, as somebody without a mouse would; it has to be there, and in reach. */
export async function tabTo(page: Page, role: Parameters<Page['getByRole']>[0], name: string | RegExp): Promise<void> {
  const wanted = page.getByRole(role, typeof name === 'string' ? { name, exact: true } : { name })
  await wanted.first().waitFor()
  for (let stops = 0; stops < STOPS_MAX; stops++) {
    await page.keyboard.press('Tab')
    if ((await wanted.and(page.locator(':focus')).count()) > 0) return
  }
  assert.fail(`no ${role} "${String(name)}" within ${STOPS_MAX} stops`)
}
