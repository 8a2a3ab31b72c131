import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** More focus stops than any page has. */
const STOPS_MAX = 150

/**
 * Presses Tab until an element with this role and name has the focus, like a user without a mouse. Fails if it is not reachable.
 */
export async function tabTo(page: Page, role: Parameters<Page['getByRole']>[0], name: string | RegExp): Promise<void> {
  const wanted = page.getByRole(role, typeof name === 'string' ? { name, exact: true } : { name })
  await wanted.first().waitFor()
  for (let stops = 0; stops < STOPS_MAX; stops++) {
    await page.keyboard.press('Tab')
    if ((await wanted.and(page.locator(':focus')).count()) > 0) return
  }
  assert.fail(`no ${role} "${String(name)}" within ${STOPS_MAX} stops`)
}
