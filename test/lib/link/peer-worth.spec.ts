import assert from 'node:assert/strict'
import type { CallResponse, IncomingCall } from '../../../lib/interface/call.ts'
import { PeerWorth, WORTH } from '../../../lib/link/peer-worth.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

describe('the worth of a peer', () => {
  const answerOf = (charged: bigint) => ({ charged }) as CallResponse
  const callOf = (peer: string, subscription?: Uint8Array) =>
    ({ peer, ...(subscription === undefined ? {} : { subscription }) }) as IncomingCall
  const { signal } = new AbortController()

  it('rises with paid calls, subscriptions and channels, and not with free calls or failures', async () => {
    const worth = new PeerWorth(manualClock())
    worth.learn(['/ip4/1.2.3.4/tcp/1/p2p/first'], () => ['channel'])
    const handle = (charged: bigint) => worth.watching(async () => answerOf(charged))
    await handle(0n)(callOf('free'), signal)
    await handle(5n)(callOf('payer'), signal)
    await handle(0n)(callOf('subscriber', Uint8Array.of(1)), signal)
    const failing = worth.watching(async () => Promise.reject(new Error('no')))
    await assert.rejects(failing(callOf('failing', Uint8Array.of(1)), signal))
    worth.answered('owner')
    const of = worth.scores()
    const found = 'stranger free failing first payer owner subscriber channel'.split(' ').map((peer) => of(peer).worth)
    const { nothing, bootstrap, traded, bound } = WORTH
    assert.deepEqual(found, [nothing, nothing, nothing, bootstrap, traded, traded, bound, bound])
  })

  it('includes whether a call is running, and when the last one ended', async () => {
    const clock = manualClock()
    const worth = new PeerWorth(clock)
    const running = Promise.withResolvers<CallResponse>()
    const call = worth.watching(() => running.promise)(callOf('caller'), signal)
    assert.equal(worth.scores()('caller').isBusy, true)
    await clock.advance(100)
    running.resolve(answerOf(0n))
    await call
    const { isBusy, usedAt } = worth.scores()('caller')
    assert.deepEqual([isBusy, usedAt], [false, clock.elapsed()])
  })
})
