import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import {
  COUNTED_LATEST_ATOMS_MAX,
  COUNTED_LATEST_OWNER_ATOMS_MAX,
  COUNTED_SAFE_ATOMS_MAX
} from '../../../../lib/base/limits/pay.ts'
import { channelLimit } from '../../../../lib/pay/payee/channel-limit.ts'

const USDC = 1_000_000n

describe('channel limit', () => {
  const limitOf = (
    latest: bigint,
    safe: bigint,
    finalized: bigint,
    rest: Partial<Parameters<typeof channelLimit>[0]> = {}
  ) =>
    channelLimit({
      view: { balance: { latest, safe, finalized }, withdrawing: 0n },
      used: finalized > safe ? finalized : safe,
      refunding: 0n,
      latestRoom: COUNTED_LATEST_OWNER_ATOMS_MAX,
      ...rest
    })

  it('counts a newcomer’s first dollar at once, 25 dollars when safe, all when final', () => {
    assert.equal(limitOf(USDC / 2n, 0n, 0n).limit, USDC / 2n)
    assert.equal(limitOf(100n * USDC, 0n, 0n).limit, COUNTED_LATEST_ATOMS_MAX)
    assert.equal(limitOf(100n * USDC, 100n * USDC, 0n).limit, COUNTED_SAFE_ATOMS_MAX)
    assert.equal(limitOf(100n * USDC, 100n * USDC, 100n * USDC).limit, 100n * USDC)
  })

  it('counts as much of a later deposit, however much is final', () => {
    assert.equal(limitOf(5n * USDC, 4n * USDC + 1n, 4n * USDC).limit, 5n * USDC)
    assert.equal(limitOf(40n * USDC, 30n * USDC, 28n * USDC).limit, 30n * USDC + COUNTED_LATEST_ATOMS_MAX)
    assert.equal(limitOf(99n * USDC, 99n * USDC, 50n * USDC).limit, 50n * USDC + COUNTED_SAFE_ATOMS_MAX)
    // Endpoints may disagree for a moment.
    assert.equal(limitOf(5n * USDC, 0n, 5n * USDC).limit, 5n * USDC)
  })

  it('counts what is only mined as far as less than a dollar of the rest is left', () => {
    const counted = (used: bigint) => limitOf(20n * USDC, 10n * USDC, 10n * USDC, { used }).onLatest
    assert.deepEqual([0n, 9n * USDC, 9n * USDC + 1n, 10n * USDC, 11n * USDC].map(counted), [0n, 0n, 1n, USDC, USDC])
  })

  it("counts no more on the newest block than the owner's limit over all channels", () => {
    assert.deepEqual(limitOf(USDC, 0n, 0n, { latestRoom: 300n }), { limit: 300n, onLatest: 300n })
    assert.deepEqual(limitOf(USDC, 0n, 0n, { latestRoom: -1n }), { limit: 0n, onLatest: 0n })
    assert.deepEqual(limitOf(USDC, USDC, 0n, { latestRoom: 0n }), { limit: USDC, onLatest: 0n })
  })

  it('counts a withdrawal as done as soon as it shows, and a refund as soon as it is signed', () => {
    const view = { balance: { latest: 10n, safe: 10n, finalized: 10n }, withdrawing: 7n }
    assert.equal(channelLimit({ view, used: 0n, refunding: 0n, latestRoom: 0n }).limit, 3n)
    assert.equal(channelLimit({ view, used: 0n, refunding: 2n, latestRoom: 0n }).limit, 1n)
    assert.equal(channelLimit({ view, used: 0n, refunding: 5n, latestRoom: 0n }).limit, 0n)
  })

  it('never counts a deposit that the newest block no longer shows', () => {
    assert.equal(limitOf(0n, 5n * USDC, 5n * USDC).limit, 0n)
    const atoms = fc.bigInt({ min: 0n, max: 100n * USDC })
    fc.assert(
      fc.property(
        fc.array(atoms, { minLength: 7, maxLength: 7 }),
        ([latest, safe, finalized, withdrawing, refunding, room, used]) => {
          const view = { balance: { latest: latest!, safe: safe!, finalized: finalized! }, withdrawing: withdrawing! }
          const { limit, onLatest } = channelLimit({ view, used: used!, refunding: refunding!, latestRoom: room! })
          assert.ok(limit >= 0n && limit <= latest!)
          assert.ok(limit + withdrawing! + refunding! <= latest! || limit === 0n)
          assert.ok(limit <= finalized! + COUNTED_SAFE_ATOMS_MAX + COUNTED_LATEST_ATOMS_MAX)
          assert.ok(onLatest >= 0n && onLatest <= room! && onLatest <= COUNTED_LATEST_ATOMS_MAX)
        }
      )
    )
  })
})
