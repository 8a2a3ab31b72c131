import assert from 'node:assert/strict'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { hasted } from '../../../helpers/hasty-clock.ts'
import { redeemerBench } from '../../../helpers/redeemer-bench.ts'
import { tokenIssuer } from '../../../helpers/token-issuer.ts'

const FROZEN = 'Blacklistable: account is blacklisted'
const PAUSED = 'Pausable: paused'

describe('earnings that the token refuses to pay out', () => {
  let bench: ChannelBench
  let owner: Awaited<ReturnType<typeof redeemerBench>>

  before(async () => {
    bench = await channelBench()
  })
  after(() => bench.close())
  beforeEach(async () => {
    owner = await redeemerBench(bench)
  })
  afterEach(() => owner.close())

  const splitter = () => bench.factory.splitterOf(owner.provider)
  const sent = () => bench.chain.nonce(owner.signer.address, 'latest')

  it('stay claimed while the token is paused, with the reason, and are paid out later', async () => {
    await owner.earn(1_000n, { deposit: 1_000n })
    const { redeemer } = await owner.start()
    await tokenIssuer(bench).pause()
    const refused = await redeemer.settleNow()
    assert.deepEqual([refused.claimed, refused.settled, refused.distributed], [1_000n, 0n, 0n])
    assert.deepEqual(refused.withheld, [{ to: splitter(), amount: 1_000n, reason: PAUSED }])
    assert.deepEqual(redeemer.status().withheld, refused.withheld)
    assert.equal(await redeemer.payoutRefusal(owner.provider), PAUSED)
    await tokenIssuer(bench).unpause()
    assert.equal(await redeemer.payoutRefusal(owner.provider), undefined)
    const done = await redeemer.settleNow()
    assert.deepEqual([done.settled, done.distributed, done.withheld], [1_000n, 1_000n, []])
    assert.deepEqual(await owner.paid(), { provider: 950n, treasury: 50n })
  })

  it('stay in the splitter while the payout address is frozen, and cost no gas', async () => {
    await owner.earn(1_000n, { deposit: 1_000n })
    const { redeemer } = await owner.start()
    await tokenIssuer(bench).freeze(owner.provider)
    const first = await redeemer.settleNow()
    const withheld = [{ to: owner.provider, amount: 950n, reason: FROZEN }]
    assert.deepEqual([first.settled, first.distributed, first.withheld], [1_000n, 50n, withheld])
    const nonce = await sent()
    const second = await redeemer.settleNow()
    assert.deepEqual([second.transactions, second.withheld, await sent()], [[], withheld, nonce])
    await tokenIssuer(bench).unfreeze(owner.provider)
    const done = await redeemer.settleNow()
    assert.deepEqual([done.distributed, done.withheld, await sent()], [950n, [], nonce + 1])
    assert.deepEqual(await owner.paid(), { provider: 950n, treasury: 50n })
  })

  it('stay in a splitter that does not exist yet, while the token refuses both sides', async () => {
    await bench.mint(splitter(), 1_000n)
    const { redeemer } = await owner.start()
    await tokenIssuer(bench).pause()
    const nonce = await sent()
    const { withheld, transactions } = await redeemer.settleNow()
    assert.deepEqual(withheld, [
      { to: owner.provider, amount: 950n, reason: PAUSED },
      { to: bench.factory.treasury, amount: 50n, reason: PAUSED }
    ])
    assert.deepEqual([transactions, await sent()], [[], nonce])
    await tokenIssuer(bench).unpause()
    assert.equal((await redeemer.settleNow()).distributed, 1_000n)
  })

  it('are paid out without a request when the token allows it', async () => {
    await owner.earn(4_000_000n, { deposit: 4_000_000n })
    const { redeemer } = await owner.start({ clock: hasted(3_000) })
    await tokenIssuer(bench).pause()
    assert.equal((await redeemer.settleNow()).settled, 0n)
    await tokenIssuer(bench).unpause()
    await eventually('the payout', 20_000, async () => ((await owner.paid()).provider > 0n ? true : undefined))
    assert.deepEqual(await owner.paid(), { provider: 3_800_000n, treasury: 200_000n })
  })
})
