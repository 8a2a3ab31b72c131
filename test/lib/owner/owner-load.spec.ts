import assert from 'node:assert/strict'
import { LOAD_LATE_TICKS } from '../../../lib/base/limits/admission.ts'
import { HELD_HOLDER_PART } from '../../../lib/base/limits/ingress.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { Owner } from '../../../lib/owner/owner.ts'
import { OwnerLoad } from '../../../lib/owner/owner-load.ts'
import { createMeteredScheme } from '../../../lib/pay/metered-scheme.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { peerId } from '../../helpers/call-record.ts'
import { BusyClock } from '../../helpers/busy-clock.ts'
import { collect } from '../../../lib/base/collect.ts'
import { asSoukError, SoukError } from '../../../lib/base/errors.ts'
import type { IncomingCall } from '../../../lib/interface/call.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'
import { incoming, NEVER, replyOf, SELF, servedApi, StubAdapter } from './bench.ts'

const [LOUD, QUIET] = [peerId('L'), peerId('Q')]
const NOT_ACCEPTED = { code: 'overloaded', notAccepted: true, retryAfterMs: 1_000 }
const SHARE = 1_000
const EPOCH = 100n

describe('an overloaded owner', () => {
  it('refuses excess calls, divides the rest among peers, and accepts its own calls', () => {
    const clock = new BusyClock()
    const load = new OwnerLoad({ clock: { ...systemClock, elapsed: clock.elapsed, after: clock.after }, self: SELF })
    const sent = (peer: string, count: number) => {
      let accepted = 0
      for (let at = 0; at < count; at++) {
        try {
          load.admit(peer)
          accepted++
          clock.work(0.5)
        } catch (error) {
          const { code, notAccepted, retryAfterMs } = asSoukError(error)
          assert.deepEqual({ code, notAccepted, retryAfterMs }, NOT_ACCEPTED)
        }
      }
      return accepted
    }
    for (let turn = 0; turn < LOAD_LATE_TICKS; turn++) {
      assert.equal(sent(LOUD, 900) + sent(QUIET, 10), 910)
      clock.turn()
    }
    const accepted = { loud: 0, quiet: 0 }
    for (let turn = 0; turn < 10; turn++) {
      accepted.loud += sent(LOUD, 900)
      accepted.quiet += sent(QUIET, 5)
      assert.equal(sent(SELF, 100), 100)
      clock.turn()
    }
    assert.ok(accepted.loud > 0 && accepted.loud < 9_000 && accepted.quiet >= 45, JSON.stringify(accepted))
  })
})

describe('an owner whose peers send large bodies', () => {
  const gates: (() => void)[] = []

  async function open() {
    const store = createMemoryStore()
    await store.open()
    const adapter = new StubAdapter()
    // Adapters collect bodies like this.
    adapter.answer = async ({ body, memory }) =>
      replyOf(String((await collect(body, 10 * SHARE, () => new Error('large'), memory)).length))
    const { calls, claims } = store
    const paymentScheme = createMeteredScheme({ log: calls })
    const heldBytesMax = HELD_HOLDER_PART * SHARE
    const owner = new Owner({
      clock: manualClock(),
      paymentScheme,
      calls,
      claims,
      self: SELF,
      epoch: EPOCH,
      heldBytesMax
    })
    await owner.apis.set(servedApi(adapter))
    return { owner, adapter, store }
  }

  /** A body of this size whose last chunk waits. */
  function bodyOf(bytes: number): AsyncIterable<Uint8Array> {
    const { promise, resolve } = Promise.withResolvers<void>()
    gates.push(resolve)
    return (async function* () {
      yield new Uint8Array(bytes)
      await promise
    })()
  }
  const letGo = () => gates.splice(0).forEach((each) => each())

  it('limits the held bytes per peer, charges nothing for refused calls, and frees finished ones', async () => {
    const { owner, store } = await open()
    const call = (peer: string, bytes: number, body: IncomingCall['body'] = bodyOf(bytes)) =>
      owner.handle(incoming({ peer, body }), NEVER)
    const held = call(LOUD, SHARE)
    await settle()
    await assert.rejects(call(LOUD, 1), NOT_ACCEPTED)
    // The frame of a body that is in memory already is a limit of the link.
    const others = [call(QUIET, SHARE), call(LOUD, SHARE, new Uint8Array(SHARE))]
    letGo()
    for (const each of [held, ...others]) {
      const { status, free } = await each
      assert.equal(status, 200)
      free?.()
    }
    const again = call(LOUD, SHARE)
    letGo()
    assert.equal((await again).status, 200)
    const refused = (await store.calls.recent({ limit: 10 })).filter(({ code }) => code === 'overloaded')
    assert.deepEqual(
      refused.map(({ charged }) => charged),
      [0n]
    )
  })

  it('limits the held bytes of all peers together', async () => {
    const { owner } = await open()
    const peers = Array.from({ length: HELD_HOLDER_PART }, (_, at) => peerId(String.fromCharCode(65 + at)))
    const calls = peers.map((peer) => owner.handle(incoming({ peer, body: bodyOf(SHARE) }), NEVER))
    await settle()
    await assert.rejects(owner.handle(incoming({ peer: QUIET, body: bodyOf(1) }), NEVER), NOT_ACCEPTED)
    letGo()
    await Promise.all(calls)
  })

  it('reads a large response once earlier ones were sent, or until its call is over', async () => {
    const { owner, adapter } = await open()
    adapter.answer = async ({ memory }, signal) => {
      await memory?.wait(SHARE, signal)
      return replyOf('x'.repeat(SHARE))
    }
    const call = (peer: string, signal = NEVER) => owner.handle(incoming({ peer }), signal)
    const first = await call(LOUD)
    // The one that waits longest is read, so that calls do not wait for each other.
    const second = await call(LOUD)
    const states: string[] = []
    const third = call(LOUD).then((answer) => {
      states.push('third')
      return answer
    })
    const over = new AbortController()
    const fourth = call(LOUD, over.signal)
    const quiet = await call(QUIET)
    await settle()
    assert.deepEqual(states, [])
    over.abort(new SoukError('upstream_timeout'))
    await assert.rejects(fourth, { code: 'upstream_timeout' })
    second.free?.()
    await settle()
    assert.deepEqual(states, ['third'])
    for (const { free } of [first, await third, quiet]) free?.()
    // The node's own calls count too, and pass their bytes on to its ingress.
    assert.equal((await call(SELF)).status, 200)
  })

  it('reads no response from the books above the limit, and says nothing about the charge then', async () => {
    const { owner, adapter } = await open()
    adapter.answer = async () => replyOf('x'.repeat(SHARE / 2))
    const call = incoming({ peer: LOUD, idempotencyKey: 'key' })
    await owner.handle(call, NEVER)
    const repeat = () => owner.handle({ ...call, resentFromEpoch: EPOCH }, NEVER)
    const keyed = () => owner.handle({ ...call, requestId: incoming().requestId }, NEVER)
    const held = [await repeat(), await keyed()]
    for (const read of [repeat, keyed]) await assert.rejects(read(), NOT_ACCEPTED)
    held[0]?.free?.()
    held.push(await keyed())
    await assert.rejects(repeat(), NOT_ACCEPTED)
    for (const { free } of held) free?.()
    assert.equal((await repeat()).status, 200)
    assert.equal(owner.apis.inFlight, 0)
  })

  it('holds a response until the call and its repeats are sent it', async () => {
    const { owner, adapter } = await open()
    adapter.answer = async ({ memory }, signal) => {
      await memory?.wait(SHARE / 2, signal)
      return replyOf('x'.repeat(SHARE / 2))
    }
    const call = incoming({ peer: LOUD })
    const [first, copy] = await Promise.all([owner.handle(call, NEVER), owner.handle(call, NEVER)])
    const second = await owner.handle(incoming({ peer: LOUD }), NEVER)
    // It exceeds the limit, as the one that waits longest may.
    await owner.handle(incoming({ peer: LOUD }), NEVER)
    let isRead = false
    void owner.handle(incoming({ peer: LOUD }), NEVER).then(() => (isRead = true))
    for (const { free } of [first, first, second]) free?.()
    await settle()
    assert.equal(isRead, false)
    copy.free?.()
    await settle()
    assert.equal(isRead, true)
  })
})
