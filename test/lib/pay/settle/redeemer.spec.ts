import assert from 'node:assert/strict'
import { CLAIM_GAS, CLAIM_ROWS_MAX, CLAIMS_IN_HAND_MIN, REFUND_GAS } from '../../../../lib/base/limits/chain.ts'
import { asSoukError } from '../../../../lib/base/errors.ts'
import { DAY_MS } from '../../../../lib/base/limits/time.ts'
import type { ChannelConfig } from '../../../../lib/interface/channel.ts'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { hastyClock } from '../../../helpers/hasty-clock.ts'
import { mortal } from '../../../helpers/mortal.ts'
import { redeemerBench } from '../../../helpers/redeemer-bench.ts'

const BOUND_MS = 10_000

describe('the redeemer', () => {
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

  const claimed = async (config: ChannelConfig) => (await bench.state(config)).claimed

  it('pays earnings to provider and treasury, 95 to 5, exact to the atom', async () => {
    const { earn, start, paid } = owner
    for (const amount of [3_333n, 1n, 777_777n]) await earn(amount, { deposit: 1_000_000n })
    const { redeemer } = await start()
    const total = 3_333n + 1n + 777_777n
    const done = await redeemer.settleNow()
    assert.deepEqual(
      { ...done, transactions: done.transactions.length },
      {
        claimed: total,
        settled: total,
        distributed: total,
        transactions: 3,
        refused: [],
        withheld: []
      }
    )
    assert.deepEqual(await paid(), { provider: total - total / 20n, treasury: total / 20n })
    console.log(
      `      claim, settle, distribute: ${done.transactions.map(({ receipt }) => receipt.gasUsed).join(', ')} gas`
    )
    const again = await redeemer.settleNow()
    const nothing = { claimed: 0n, settled: 0n, distributed: 0n, transactions: [], refused: [], withheld: [] }
    assert.deepEqual(again, nothing)
  })

  it('stays exact to the atom over many rounds', async () => {
    const { earn, start, paid } = owner
    const channel = await earn(1n, { deposit: 1_000n })
    const { redeemer } = await start()
    for (let total = 1n; total <= 21n; total += 5n) {
      await channel.raise(total)
      await redeemer.settleNow()
      assert.deepEqual(await paid(), { provider: total - total / 20n, treasury: total / 20n })
    }
  })

  it('never claims more than was signed, captured, or is in the channel', async () => {
    const { earn, start } = owner
    const poor = await earn(500n, { deposit: 300n })
    const unsigned = await earn(500n, { deposit: 1_000n, ceiling: 200n })
    const ahead = await earn(100n, { deposit: 1_000n, ceiling: 900n })
    const { redeemer } = await start()
    assert.equal((await redeemer.settleNow()).claimed, 600n)
    assert.deepEqual(await Promise.all([poor, unsigned, ahead].map(({ config }) => claimed(config))), [
      300n,
      200n,
      100n
    ])
  })

  it('claims all rows except those that the contract rejects, and lists these', async () => {
    const { earn, start, paid, books } = owner
    const channels = []
    for (let i = 0; i < 9; i++) channels.push(await earn(100n, { deposit: 1_000n }))
    const forged = await earn(100n, { deposit: 1_000n, by: bench.stranger })
    const { redeemer } = await start()
    const done = await redeemer.settleNow()
    const reason = 'InvalidSignature'
    assert.equal(done.claimed, 900n)
    assert.deepEqual(done.refused, [{ channelId: forged.channelId, reason }])
    assert.deepEqual(redeemer.status().refused, done.refused)
    assert.deepEqual(await paid(), { provider: 855n, treasury: 45n })
    // The rejected row does not affect later claims, and is claimed once it is valid.
    await channels[0]?.raise(200n)
    assert.equal((await redeemer.settleNow()).claimed, 100n)
    await forged.raise(150n)
    assert.equal((await redeemer.settleNow()).claimed, 150n)
    assert.deepEqual(redeemer.status().refused, [])
    assert.equal([...books.channels()].length, 10)
  })

  it('claims the other rows of a batch while the deposit of one is not mined, and that one once it is', async () => {
    const { earn, start, paid } = owner
    const first = await earn(200n, { deposit: 1_000n })
    const before = await bench.client.snapshot()
    const second = await earn(300n, { deposit: 1_000n })
    const { redeemer, watch } = await start()
    await watch.refresh([first.channelId, second.channelId])
    assert.equal(watch.snapshot(second.channelId)?.latest.balance, 1_000n)
    // A reorganisation removes the second deposit after the redeemer has seen it.
    await bench.client.revert({ id: before })
    assert.equal((await redeemer.settleNow()).claimed, 200n)
    assert.deepEqual(await Promise.all([first, second].map(({ config }) => claimed(config))), [200n, 0n])
    await bench.mint(bench.payer.address, 1_000n)
    await bench.act(bench.owner, await bench.deposit(second.config, 1_000n))
    assert.equal((await redeemer.settleNow()).claimed, 300n)
    assert.deepEqual(redeemer.status().refused, [])
    assert.deepEqual(await paid(), { provider: 475n, treasury: 25n })
  })

  it('waits until a claim is worth its gas', async () => {
    const { earn, start, looked } = owner
    const channel = await earn(4_000_000n, { deposit: 10_000_000n })
    const { redeemer, watch } = await start({ policy: { atoms: 5_000_000n } })
    await looked(watch, 3)
    assert.equal(await claimed(channel.config), 0n)
    assert.equal(redeemer.status().claimable, 4_000_000n)
    await channel.raise(5_000_000n)
    await eventually('it is claimed', BOUND_MS, async () =>
      (await claimed(channel.config)) === 5_000_000n ? true : undefined
    )
    await eventually('it is paid out', BOUND_MS, async () =>
      (await owner.paid()).provider === 4_750_000n ? true : undefined
    )
  })

  it('claims old earnings, even small ones', async () => {
    const { earn, start } = owner
    const channel = await earn(4_000_000n, { deposit: 10_000_000n })
    await start({ policy: { ageMs: 1 } })
    await eventually('it is claimed', BOUND_MS, async () =>
      (await claimed(channel.config)) === 4_000_000n ? true : undefined
    )
  })

  it('claims old earnings although an earlier process noted its time by a clock that was a year ahead', async () => {
    const { earn, start, stop } = owner
    const channel = await earn(4_000_000n, { deposit: 10_000_000n })
    const wrong = { ...hastyClock, now: () => hastyClock.now() + 365 * DAY_MS }
    await stop(await start({ clock: wrong }))
    assert.equal(await claimed(channel.config), 0n)
    await start()
    await eventually('it is claimed', BOUND_MS, async () =>
      (await claimed(channel.config)) === 4_000_000n ? true : undefined
    )
  })

  it('pays out direct payments to a splitter, by the same policy', async () => {
    const { books, start, looked, paid } = owner
    const [provider = '0x'] = books.payouts()
    const splitter = bench.factory.splitterOf(provider)
    const { redeemer, watch } = await start({ policy: { atoms: 10_000_000n } })
    await looked(watch, 2)
    const receive = async (amount: bigint) => {
      await bench.mint(splitter, amount)
      redeemer.received(amount)
    }
    await receive(9_000_000n)
    await looked(watch, 3)
    assert.equal((await paid()).provider, 0n)
    await receive(1_000_000n)
    await eventually('it is paid out', BOUND_MS, async () =>
      (await paid()).provider === 9_500_000n ? true : undefined
    )
    assert.equal((await paid()).treasury, 500_000n)
  })

  it('never pays more gas than it claims, unless requested', async () => {
    const { earn, start, looked } = owner
    const channel = await earn(1n, { deposit: 1_000n })
    const { redeemer, watch } = await start({ policy: { atoms: 1n, ageMs: 1 } })
    await looked(watch, 5)
    assert.equal(await claimed(channel.config), 0n)
    assert.equal((await redeemer.settleNow()).claimed, 1n)
  })

  it('claims at once if a payer is withdrawing', async () => {
    const { earn, start, looked } = owner
    const channel = await earn(4_000_000n, { deposit: 10_000_000n })
    const { watch } = await start()
    await looked(watch, 2)
    assert.equal(await claimed(channel.config), 0n)
    await bench.act(bench.payer, bench.calls.initiateWithdraw(channel.config, 10_000_000n))
    await eventually('it is claimed', BOUND_MS, async () =>
      (await claimed(channel.config)) === 4_000_000n ? true : undefined
    )
    assert.equal(watch.snapshot(channel.channelId)?.latest.withdrawal?.amount, 10_000_000n)
    const before = await bench.usdc(bench.payer.address)
    await bench.wait(901)
    await bench.act(bench.payer, bench.calls.finalizeWithdraw(channel.config))
    assert.equal((await bench.usdc(bench.payer.address)) - before, 6_000_000n)
  })

  it(`claims ${CLAIM_ROWS_MAX} channels in one transaction`, async () => {
    const { earn, start, paid } = owner
    const deposits = Array.from({ length: CLAIM_ROWS_MAX }, (_, i) => BigInt(i + 1))
    for (const amount of deposits) await earn(amount, { deposit: 1_000n })
    const { redeemer } = await start()
    const total = deposits.reduce((sum, amount) => sum + amount)
    const { transactions, claimed } = await redeemer.settleNow()
    assert.equal(claimed, total)
    assert.equal(transactions.length, 3)
    assert.deepEqual(await paid(), { provider: total - total / 20n, treasury: total / 20n })
    console.log(`      ${CLAIM_ROWS_MAX} rows: ${transactions[0]?.receipt.gasUsed} gas`)
  })

  it('leaves each atom in the right place, killed at any instant', async () => {
    for (let dieAt = 0; ; dieAt++) {
      const side = await redeemerBench(bench)
      const channel = await side.earn(1_001n, { deposit: 5_000n })
      const life = mortal(dieAt)
      const first = await side.start({ life })
      let isOver = false
      const over = () => (isOver = true)
      void first.redeemer.settleNow().then(over, over)
      await eventually('its end', BOUND_MS, () => (life.isDead || isOver ? true : undefined))
      const hasDied = life.isDead
      // Otherwise it could die of a later write, and then it could not be stopped.
      life.kill()
      side.killed(first)
      const second = await side.start()
      await second.redeemer.settleNow()
      assert.equal(await claimed(channel.config), 1_001n)
      assert.deepEqual(await side.paid(), { provider: 951n, treasury: 50n })
      await side.close()
      if (!hasDied) break
      assert.ok(dieAt < 60)
    }
  })

  describe('a deposit', () => {
    const newDeposit = async (amount: bigint) => {
      const config = bench.newConfig({ receiverAuthorizer: owner.signer.address })
      await bench.mint(bench.payer.address, amount)
      return { config, authorization: await bench.authorize(config, amount) }
    }

    it('is mined once for any number of requests, and shows in the watch', async () => {
      const { config, authorization } = await newDeposit(500_000n)
      const { redeemer, watch, submitter } = await owner.start()
      const [mined, same] = await Promise.all([
        redeemer.deposit(config, authorization),
        redeemer.deposit(config, authorization)
      ])
      assert.deepEqual(mined, same)
      assert.deepEqual(await redeemer.deposit(config, authorization), mined)
      assert.equal(watch.snapshot(bench.domain.channelId(config))?.latest.balance, 500_000n)
      assert.equal(submitter.status().unfinal, 1)
      assert.equal((await bench.state(config)).balance, 500_000n)
    })

    it('is rejected before it costs gas if it would fail', async () => {
      const { config, authorization } = await newDeposit(500_000n)
      const { redeemer } = await owner.start()
      const forged = { ...authorization, amount: 499_999n }
      await assert.rejects(redeemer.deposit(config, forged), { code: 'payment_rejected' })
      const late = { ...authorization, validBefore: 1 }
      await assert.rejects(redeemer.deposit(config, late), { code: 'payment_rejected', message: /is expired/ })
      assert.equal(await bench.chain.nonce(owner.signer.address, 'latest'), 0)
    })

    it('is not accepted by an owner without gas to claim it', async () => {
      const { config, authorization } = await newDeposit(500_000n)
      await bench.fundGas(owner.signer.address, 10n ** 9n)
      const { redeemer } = await owner.start()
      await assert.rejects(redeemer.deposit(config, authorization), {
        code: 'settlement_unavailable',
        message: `The owner's account ${owner.signer.address} is almost out of ETH for gas.`
      })
      assert.equal(redeemer.status().claimsInHand, 0)
      await bench.fundGas(owner.signer.address)
      // The first deposit may arrive before the chain is polled again, or during a poll that reads the earlier balance.
      await eventually('the gas', 5_000, async () => {
        await redeemer.refreshGas()
        return (redeemer.status().claimsInHand ?? 0) > 3 ? true : undefined
      })
      assert.ok((await redeemer.deposit(config, authorization)).receipt.succeeded)
    })
  })

  describe('a refund', () => {
    it('uses none of the gas reserved for claims, for any number of requests', async () => {
      const { earn, start } = owner
      const channels = [await earn(400n, { deposit: 1_000n })]
      while (channels.length < 4) channels.push(await earn(400n, { deposit: 1_000n }))
      const { maxFee } = await bench.chain.fees()
      // Enough for changing fees, but not for a third refund.
      const reserve = CLAIMS_IN_HAND_MIN * CLAIM_GAS * maxFee
      await bench.fundGas(owner.signer.address, ((reserve + 2n * REFUND_GAS * maxFee) * 21n) / 20n)
      const { redeemer, watch } = await start()
      const refund = ({ config }: (typeof channels)[number]) =>
        redeemer.refund({ config, amount: 600n, nonce: 0n }).then(
          () => 'paid',
          (error: unknown) => asSoukError(error).code
        )
      const first = await Promise.all(channels.map(refund))
      assert.equal(first.filter((outcome) => outcome === 'paid').length, 2, String(first))
      assert.equal(first.filter((outcome) => outcome === 'settlement_unavailable').length, 2)
      for (let round = 0; round < 3; round++) {
        await owner.looked(watch, 1)
        await Promise.all(channels.map(refund))
      }
      const left = await bench.chain.gas(owner.signer.address)
      assert.ok(left >= reserve / 2n, `${left} of ${reserve}`)
      const { claimsInHand } = redeemer.status()
      assert.ok(claimsInHand! >= Number(CLAIMS_IN_HAND_MIN), `${claimsInHand}`)
      await assert.rejects(redeemer.claim(channels[0]!.channelId), { code: 'settlement_unavailable' })
      // With more gas, claims succeed again.
      await bench.fundGas(owner.signer.address)
      assert.equal((await redeemer.settleNow()).claimed, 1_600n)
    })

    it("refunds the payer's amount once, for any number of requests", async () => {
      const { earn, start } = owner
      const channel = await earn(400n, { deposit: 1_000n })
      const { redeemer } = await start()
      const before = await bench.usdc(bench.payer.address)
      const refund = { config: channel.config, amount: 600n, nonce: 0n }
      const [mined, same] = await Promise.all([redeemer.refund(refund), redeemer.refund(refund)])
      assert.deepEqual(mined, same)
      await assert.rejects(redeemer.refund({ ...refund, amount: 601n }), { code: 'payment_id_conflict' })
      await assert.rejects(redeemer.refund({ ...refund, nonce: 7n }), { code: 'payment_rejected' })
      assert.equal((await bench.usdc(bench.payer.address)) - before, 600n)
      assert.equal((await redeemer.settleNow()).claimed, 400n)
      assert.deepEqual(await bench.state(channel.config), { balance: 400n, claimed: 400n, refundNonce: 1n })
    })
  })

  it('rejects waiting callers when it stops, and finds the claim again', async () => {
    const { earn, start, paid } = owner
    await earn(1_000n, { deposit: 5_000n })
    await bench.client.setAutomine(false)
    const first = await start()
    const waiting = first.redeemer.settleNow()
    await eventually('it is submitted', BOUND_MS, () => (first.submitter.status().unmined === 1 ? true : undefined))
    await assert.rejects(Promise.all([waiting, owner.stop(first)]), { code: 'settlement_pending' })
    await bench.client.setAutomine(true)
    await bench.client.mine({ blocks: 1 })
    const second = await start()
    await second.redeemer.settleNow()
    assert.deepEqual(await paid(), { provider: 950n, treasury: 50n })
    assert.equal(await bench.chain.nonce(owner.signer.address, 'latest'), 3)
  })
})
