import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { type DevChain, startDevChain } from '../../../node/demo/chain/dev-chain.ts'
import { openBrowser, openPage } from '../../helpers/browser.ts'
import { tabTo } from '../../helpers/keyboard.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../../helpers/souk-home.ts'

const TO = `0x${'11'.repeat(20)}`

describe('console of a wallet', () => {
  let chain: DevChain
  let home: SoukHome
  let node: HomeNode
  let browser: Browser

  tellWhenFailed(() => home)
  before(async () => {
    ;[chain, home, browser] = await Promise.all([startDevChain({ mining: 'instant' }), soukHome(), openBrowser()])
    const passphraseFile = join(home.directory, 'passphrase')
    await writeFile(passphraseFile, 'correct horse battery staple', { mode: 0o600 })
    for (const command of [
      `wallet create --network dev --passphrase-file ${passphraseFile}`,
      `wallet deposit 5 --chain-rpc ${chain.url}`
    ]) {
      const { code, stderr } = await home.run(`--profile payer ${command}`)
      assert.equal(code, 0, stderr)
    }
    const money = ['--payment-scheme', 'channel', '--chain-rpc', chain.url, '--passphrase-file', passphraseFile]
    node = await home.up('payer', ...money, '--p2p-port', '0', '--admin-port', '0', '--no-ingress')
  })
  after(async () => {
    await browser?.close()
    await home?.close()
    await chain?.close()
  })

  it('sends money by keyboard only, not while Enter is held, and shows the outcome despite Escape', async () => {
    const { link } = await node.cli<{ link: string }>('console --no-open')
    const { page, mishaps } = await openPage(browser, node.ready.admin)
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/wallet/withdrawals')) sent.push(String(request.postData()))
    })
    await page.goto(link)
    await page.getByRole('link', { name: 'Wallet' }).click()
    await page.getByRole('button', { name: 'Withdraw', exact: true }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount').fill('0.25')
    await dialog.getByLabel('To').fill(TO)
    for (const focused of [dialog.getByLabel('To'), dialog.getByRole('button', { name: 'Look it over' })]) {
      await dialog.getByLabel('Amount').fill('0.5')
      await focused.focus()
      for (let repeats = 0; repeats < 3; repeats++) await page.keyboard.down('Enter')
      await page.keyboard.up('Enter')
      await dialog.getByText('This cannot be undone').waitFor()
      assert.deepEqual(sent, [])
      await dialog.getByLabel('Amount').fill('0.25')
    }
    await dialog.getByLabel('Amount').press('Enter')
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/wallet/withdrawals', async (route) => {
      await mayAnswer
      await route.continue()
    })
    await tabTo(page, 'button', 'Send it')
    await page.keyboard.press('Enter')
    await dialog.locator('button[aria-busy=true]').waitFor()
    // A closed dialog would hide the outcome, and another one would send the money again.
    for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
    assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled())
    answer()
    await page.getByRole('heading', { name: 'Sent' }).waitFor()
    assert.equal(sent.length, 1)
    assert.deepEqual(mishaps, [])
  })
})
