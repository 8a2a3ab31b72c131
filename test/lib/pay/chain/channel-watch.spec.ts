import assert from 'node:assert/strict'
import { SoukError } from '../../../../lib/base/errors.ts'
import type { Hex } from '../../../../lib/base/hex.ts'
import { WATCH_POLL_MS, WATCHED_AT_ONCE } from '../../../../lib/base/limits/chain.ts'
import type { BlockTag, Chain, ChannelState } from '../../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import { createChannelWatch } from '../../../../lib/pay/chain/channel-watch.ts'
import { NETWORKS } from '../../../../node/networks.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'

const id = (n: number): ChannelId => `0x${n.toString(16).padStart(64, '0')}`
const state = (balance: bigint): ChannelState => ({ balance, claimed: 0n, refundNonce: 0n })

/** A chain with scripted channel states at each tag, and a watch on some channels. */
function watchBench(watched: ChannelId[]) {
  const clock = manualClock()
  const asked: Array<{ readonly at: BlockTag; readonly ids: readonly ChannelId[] }> = []
  const errors: string[] = []
  const shown = new Map<string, ChannelState>()
  let lagMs = 0
  let isDown = false
  const chain = {
    parameters: NETWORKS.dev.chain,
    async channels(ids: readonly ChannelId[], at: BlockTag) {
      if (isDown) throw new SoukError('settlement_unavailable')
      asked.push({ at, ids })
      const block = { number: 1n, hash: '0x00' as Hex, at: clock.now() - lagMs }
      return { block, channels: ids.map((id) => shown.get(`${at} ${id}`) ?? state(0n)) }
    }
  } as unknown as Chain
  const onError = ({ code }: SoukError) => void errors.push(code)
  return {
    clock,
    asked,
    errors,
    watched,
    watch: createChannelWatch({ chain, clock, channels: () => watched, onError }),
    show(id: ChannelId, balances: Partial<Record<BlockTag, bigint>>) {
      for (const [at, balance] of Object.entries(balances)) shown.set(`${at} ${id}`, state(balance))
    },
    lag: (ms: number) => (lagMs = ms),
    down: (down: boolean) => (isDown = down)
  }
}

describe('the watch of channels', () => {
  it('returns channels at the latest, safe and finalized block', async () => {
    const { watch, show } = watchBench([id(1)])
    show(id(1), { latest: 3n, safe: 2n, finalized: 1n })
    assert.equal(watch.snapshot(id(1)), undefined)
    assert.equal(watch.age(id(1)), Infinity)
    await watch.start()
    assert.deepEqual(watch.snapshot(id(1)), { latest: state(3n), safe: state(2n), finalized: state(1n) })
    assert.equal(watch.age(id(1)), 0)
    watch.stop()
  })

  it('reads final channels once, and changing ones at all three tags', async () => {
    const { watch, show, asked, clock } = watchBench([id(1), id(2)])
    show(id(1), { latest: 3n, safe: 3n, finalized: 3n })
    show(id(2), { latest: 3n, safe: 3n, finalized: 1n })
    await watch.start()
    asked.length = 0
    await clock.advance(WATCH_POLL_MS)
    assert.deepEqual(
      asked.map(({ at, ids }) => [at, ids.length]),
      [
        ['latest', 2],
        ['safe', 1],
        ['finalized', 1]
      ]
    )
    show(id(2), { finalized: 3n })
    await clock.advance(WATCH_POLL_MS)
    asked.length = 0
    await clock.advance(WATCH_POLL_MS)
    assert.deepEqual(
      asked.map(({ at, ids }) => [at, ids.length]),
      [['latest', 2]]
    )
    assert.deepEqual(watch.snapshot(id(2))?.finalized, state(3n))
    watch.stop()
  })

  it("reports the age of its view, by its own clock and by the chain's", async () => {
    const { watch, clock, down, lag, errors } = watchBench([id(1)])
    await watch.start()
    down(true)
    await clock.advance(10 * WATCH_POLL_MS)
    assert.equal(watch.age(id(1)), 10 * WATCH_POLL_MS)
    assert.deepEqual(new Set(errors), new Set(['settlement_unavailable']))
    down(false)
    lag(3_600_000)
    await watch.refresh([id(1)])
    assert.equal(watch.age(id(1)), 3_600_000)
    watch.stop()
    assert.equal(clock.pending, 0)
  })

  it('polls many channels in turns, new ones first, and drops removed ones', async () => {
    const many = Array.from({ length: WATCHED_AT_ONCE + 500 }, (_, i) => id(i))
    const { watch, watched, asked, clock } = watchBench(many)
    await watch.start()
    assert.equal(asked[0]?.ids.length, WATCHED_AT_ONCE)
    watched.push(id(9_999))
    asked.length = 0
    await clock.advance(WATCH_POLL_MS)
    assert.deepEqual(asked[0]?.ids.slice(0, 501), many.slice(WATCHED_AT_ONCE))
    assert.equal(asked[0]?.ids[501], id(0))
    assert.ok(watched.every((id) => watch.snapshot(id) !== undefined))
    watched.length = 0
    await clock.advance(WATCH_POLL_MS)
    assert.equal(watch.snapshot(id(0)), undefined)
    watch.stop()
  })

  it('notifies its listeners of each poll until they unsubscribe', async () => {
    const { watch, clock } = watchBench([id(1)])
    const told: number[] = []
    const leave = watch.onLook((ids) => void told.push(ids.length))
    await watch.start()
    await watch.refresh([id(1), id(2)])
    leave()
    await clock.advance(WATCH_POLL_MS)
    assert.deepEqual(told, [1, 2])
    watch.stop()
  })
})
