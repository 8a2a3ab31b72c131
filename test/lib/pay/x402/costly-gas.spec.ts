import assert from 'node:assert/strict'
import type { Problem } from '../../../../lib/base/errors.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { type KeylessBench, keylessBench } from '../../../helpers/keyless-bench.ts'

const USDC = 1_000_000n
const GWEI = 10n ** 9n
/** A thousandth of it: about the usual fee of Base. */
const MEGAWEI = 10n ** 6n

describe('x402 exact, while gas is a hundred times more expensive', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let url: string
  let dear: string

  before(async () => {
    bench = await keylessBench({ isPatient: true })
    owner = await bench.startOwner()
    await owner.souk.serve({ name: 'counter', price: '0.04', payout: bench.provider }, owner.api)
    url = `${await bench.startIngress(owner)}/api/demo/api/counter`
    await owner.souk.serve({ name: 'dear', price: '5', payout: bench.provider }, owner.api)
    dear = url.replace(/counter$/, 'dear')
    await bench.payer('payer', 10n * USDC)
  })
  after(() => bench.close())

  const gasOfOwner = () => bench.client.getBalance({ address: bench.owner.address })
  const call = (to = url) =>
    bench.fetchOf('payer')(to, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })

  async function gasAt(baseFeePerGas: bigint): Promise<void> {
    await bench.client.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await bench.client.mine({ blocks: 1 })
  }

  it('is refused, unless the price covers the gas, and is taken again when gas is cheap', async () => {
    assert.equal((await call()).status, 200)
    await gasAt(GWEI)
    const refused = await eventually('a refusal', 10_000, async () => {
      const response = await call()
      return response.status === 503 ? response : undefined
    })
    const { code, detail } = (await refused.json()) as Problem
    assert.equal(code, 'settlement_unavailable')
    assert.match(detail ?? '', /gas .*costs more than the price/)
    const [runs, gas] = [owner.api.runs, await gasOfOwner()]
    for (let i = 0; i < 3; i++) assert.equal((await call()).status, 503)
    assert.deepEqual([owner.api.runs, await gasOfOwner()], [runs, gas])
    assert.equal((await call(dear)).status, 200)
    await gasAt(MEGAWEI)
    await eventually('a call that is paid', 10_000, async () => ((await call()).status === 200 ? true : undefined))
  })
})
