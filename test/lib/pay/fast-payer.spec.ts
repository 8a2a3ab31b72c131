import assert from 'node:assert/strict'
import { isSoukError } from '../../../lib/base/errors.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { schemeBench } from '../../helpers/scheme-bench.ts'

const USDC = 1_000_000n
const MINUTE_MS = 60_000
/** Deposits become safe and final this long after they are mined. */
const SETTLES_MS = 5 * MINUTE_MS
/** A payer cannot know before how much it will spend. */
const LEARNS_MINUTES = 10

describe('a payer that spends more in some minutes than an owner counts of new deposits', () => {
  it('has enough deposits that count, and not too many', async () => {
    const bench = schemeBench()
    const { play } = bench
    play.isFresh = true
    const owner = await bench.start('D')
    const payer = await bench.start('C', { dailyMax: 100n * USDC })
    play.wallets.set(payer.signer.address, 100n * USDC)
    const mined: Array<{ readonly at: number; readonly latest: bigint }> = []
    const late: number[] = []
    for (let minute = 0; minute < 60; minute++) {
      for (let n = 0; n < 10; n++) {
        try {
          await bench.call(payer, owner, { price: 40_000n })
        } catch (error) {
          assert.ok(isSoukError(error) && error.code === 'settlement_pending', String(error))
          if (minute > LEARNS_MINUTES) late.push(minute)
        }
        await settle()
      }
      mined.push({ at: play.clock.elapsed(), latest: bench.onChain().latest })
      await play.clock.advance(MINUTE_MS)
      const settled = mined.findLast(({ at }) => play.clock.elapsed() - at >= SETTLES_MS)?.latest ?? 0n
      Object.assign(bench.onChain(), { safe: settled, finalized: settled })
    }
    assert.deepEqual(late, [])
    assert.ok(play.deposits < 35, `${play.deposits} deposits`)
    const { spent } = await bench.books(owner, payer)
    const left = bench.onChain().latest - spent
    assert.ok(left <= 10n * USDC, `${left} is ahead: more than 20 minutes and a deposit need`)
  })

  it('keeps as much in its wallet, for other owners', async () => {
    const bench = schemeBench()
    const { play } = bench
    const owner = await bench.start('D')
    const payer = await bench.start('C')
    play.wallets.set(payer.signer.address, 6n * USDC)
    for (let spent = 40_000n; spent <= 4n * USDC; spent += 40_000n) {
      await bench.call(payer, owner, { price: 40_000n })
      await settle()
      const [wallet = 0n, left] = [play.wallets.get(payer.signer.address), bench.onChain().latest - spent]
      assert.ok(wallet + USDC >= left, `${wallet} in the wallet, ${left} ahead`)
    }
    assert.ok(play.deposits > 5)
  })
})
