import assert from 'node:assert/strict'
import type { CallResponse, IncomingCall } from '../../../lib/interface/call.ts'
import { PeerWorth, WORTH } from '../../../lib/link/peer-worth.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

describe('the worth of a peer', () => {
  const answerOf = (charged: bigint) => ({ charged }) as CallResponse
  const callOf = (peer: string, subscription?: Uint8Array) =>
    ({ peer, ...(subscription === undefined ? {} : { subscription }) }) as IncomingCall

  it('rises with paid calls, subscriptions and channels, and not with free calls or failures', async () => {
    const worth = new PeerWorth(manualClock())
    worth.learn(['/ip4/1.2.3.4/tcp/1/p2p/first'], () => ['channel'])
    const answer = (call: IncomingCall, charged: bigint) => {
      worth.onCall(call)
      worth.onAnswer(call, answerOf(charged))
    }
    answer(callOf('free'), 0n)
    answer(callOf('payer'), 5n)
    answer(callOf('subscriber', Uint8Array.of(1)), 0n)
    const failing = callOf('failing', Uint8Array.of(1))
    worth.onCall(failing)
    worth.onError(failing)
    worth.answered('owner')
    const of = worth.scores()
    const found = 'stranger free failing first payer owner subscriber channel'.split(' ').map((peer) => of(peer).worth)
    const { nothing, bootstrap, traded, bound } = WORTH
    assert.deepEqual(found, [nothing, nothing, nothing, bootstrap, traded, traded, bound, bound])
  })

  it('includes whether a call is running, and when the last one ended', async () => {
    const clock = manualClock()
    const worth = new PeerWorth(clock)
    worth.onCall(callOf('caller'))
    assert.equal(worth.scores()('caller').isBusy, true)
    await clock.advance(100)
    worth.onAnswer(callOf('caller'), answerOf(0n))
    const { isBusy, usedAt } = worth.scores()('caller')
    assert.deepEqual([isBusy, usedAt], [false, clock.elapsed()])
  })
})
