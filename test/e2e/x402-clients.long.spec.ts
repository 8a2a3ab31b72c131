import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeylessBench, keylessBench } from '../helpers/keyless-bench.ts'
import { type Client, clients } from './x402-clients/clients.ts'

const PAGE = new URL('../../docs/reference/x402-clients.md', import.meta.url)
const TABLE = /(?<=<!-- clients -->\n)[^]*(?=<!-- end -->)/
const HEAD =
  '| Client | Version | `exact` | `batch-settlement`, 5 calls | `refund()` | after a restart |\n|---|---|---|---|---|---|\n'
const CALLS = 5
const USDC = 1_000_000n

/** The table of docs/reference/x402-clients.md: each client makes the calls. SOUK_TEST_WRITE=1 writes it. */
describe('x402 clients', function () {
  this.timeout(300_000)
  let bench: KeylessBench
  let scratch: string
  let all: Client[]
  let url: string

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'souk-clients-'))
    bench = await keylessBench({ isPatient: true })
    const owner = await bench.startOwner()
    await owner.souk.serve({ name: 'dear', price: '0.05', payout: bench.provider }, owner.api)
    await owner.souk.serve({ name: 'cheap', price: '0.001', payout: bench.provider }, owner.api)
    url = `${await bench.startIngress(owner)}/api/demo/api`
    all = await clients(bench, scratch)
  })
  after(async () => {
    await bench.close()
    await rm(scratch, { recursive: true, force: true })
  })

  const works = (step: Promise<unknown>): Promise<boolean> =>
    step.then(
      (result) => result === 200 || result === true,
      () => false
    )

  async function rowOf({ name, version, start }: Client, index: number): Promise<string> {
    const [payer, channel] = [`exact client ${index}`, `batch client ${index}`]
    await bench.payer(payer, USDC)
    await bench.payer(channel, 4n * USDC)
    const exact = await works(start(payer, 'exact').post(`${url}/dear`))
    const cheap = `${url}/cheap`
    const client = start(channel, 'batch')
    let calls = 0
    while (calls < CALLS && (await works(client.post(cheap)))) calls++
    const again = calls > 0 && (await works(start(channel, 'batch').post(cheap)))
    const leaver = `leaving client ${index}`
    await bench.payer(leaver, USDC)
    const leaving = start(leaver, 'batch')
    const isPaid = leaving.refund !== undefined && (await works(leaving.post(cheap)))
    const refund = isPaid && (await works(leaving.refund(cheap)))
    const counted = calls === CALLS ? 'yes' : calls === 0 ? 'no' : `${calls} of ${CALLS}`
    const words = [exact, refund, again].map((isYes) => (isYes ? 'yes' : 'no'))
    return `| ${name} | ${version} | ${words[0]} | ${counted} | ${words[1]} | ${words[2]} |\n`
  }

  it('do what the page says', async () => {
    let table = HEAD
    for (const [index, client] of all.entries()) table += await rowOf(client, index)
    const page = await readFile(PAGE, 'utf8')
    const made = page.replace(TABLE, () => `\n${table}\n`)
    if (process.env['SOUK_TEST_WRITE'] === '1') await writeFile(PAGE, made)
    else assert.equal(page, made, 'run: SOUK_TEST_WRITE=1 npx mocha test/e2e/x402-clients.long.spec.ts')
  })
})
