import assert from 'node:assert/strict'
import { text, utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { IN_FLIGHT_PER_PEER_MAX } from '../../../lib/base/limits/admission.ts'
import {
  ACK_BATCH_MAX,
  ACK_DELAY_MS,
  DEADLINE_HOP_MS,
  RESEND_MS,
  UPSTREAM_TIMEOUT_MS_MAX
} from '../../../lib/base/limits/call.ts'
import { FRAME_BYTES_MAX } from '../../../lib/base/limits/link.ts'
import { peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { textOf } from '../../helpers/bodies.ts'
import {
  answered,
  responseOf,
  type CallBench,
  callBench,
  callOf,
  CONSUMER,
  errorOf,
  HELLO,
  NEVER,
  OWNER,
  rawPeer,
  requestFrame
} from './bench.ts'

/** A received object is its frame. */
function withoutFrame<T extends object>(received: T): T {
  const own = ['kind', 'id', 'ownerUs', 'upstreamUs']
  return Object.fromEntries(Object.entries(received).filter(([name]) => !own.includes(name))) as T
}

describe('CallProtocol', () => {
  let bench: CallBench
  beforeEach(async () => {
    bench = await callBench()
  })

  it('delivers a call unchanged to its owner, and returns the response', async () => {
    bench.owner.handler = async () =>
      responseOf('{"price":1}', {
        status: 203,
        charged: 1_500n,
        receipt: utf8('signed'),
        ownerMs: 1.25,
        upstreamMs: 30.5
      })
    const call = callOf({
      method: 'PUT',
      path: '/candles?x=1',
      headers: [
        ['accept', 'application/json'],
        ['accept', 'text/plain']
      ],
      maxPrice: 2_000n,
      authorization: utf8('voucher'),
      idempotencyKey: 'once',
      traceparent: '00-1-2-01'
    })
    const attempt = await bench.call(call)
    const answer = withoutFrame(answered(attempt))
    assert.deepEqual(plain({ ...answer, body: text(answer.body as Uint8Array), receipt: text(answer.receipt) }), {
      ...responseOf(),
      status: 203,
      body: '{"price":1}',
      charged: 1_500n,
      receipt: 'signed',
      ownerMs: 1.25,
      upstreamMs: 30.5
    })
    const [{ timeoutMs, ...received } = assert.fail('nothing arrived')] = bench.owner.received
    const { timeoutMs: sent, ...expected } = call
    assert.deepEqual(plain(withoutFrame(received)), plain({ ...expected, peer: CONSUMER }))
    assert.equal(timeoutMs, sent - DEADLINE_HOP_MS)
  })

  it('runs many calls at once in both directions over one channel, with responses in any order', async () => {
    const release = Promise.withResolvers<void>()
    bench.owner.handler = async (call) => {
      if (text(call.body as Uint8Array) === '0') await release.promise
      return responseOf(call.body)
    }
    bench.consumer.handler = async () => responseOf('from the consumer')
    const calls = Array.from({ length: 200 }, (_, i) => bench.call({ body: utf8(`${i}`) }))
    const others = await Promise.all(calls.slice(1))
    assert.deepEqual(
      others.map((attempt) => text(answered(attempt).body as Uint8Array)),
      Array.from({ length: 199 }, (_, i) => `${i + 1}`)
    )
    const back = await bench.owner.calls.call({ id: CONSUMER, addresses: [] }, callOf(), NEVER)
    assert.equal(await textOf(answered(back).body), 'from the consumer')
    assert.deepEqual([bench.consumer.calls.calling, bench.owner.calls.serving], [1, 1])
    release.resolve()
    assert.equal(await textOf(answered(await (calls[0] ?? assert.fail())).body), '0')
    await settle()
    assert.deepEqual([bench.consumer.calls.calling, bench.owner.calls.serving], [0, 0])
  })

  it('sends the code, the safe text and the public members of a failure, never its cause', async () => {
    bench.owner.handler = async () => {
      throw new SoukError('soap_fault', 'Account is closed.', {
        status: 400,
        source: 'upstream',
        retryAfterMs: 1_500.2,
        members: { faultcode: 'Client' },
        cause: new Error('secret of the owner')
      })
    }
    const attempt = await bench.call()
    const error = errorOf(attempt)
    assert.equal(attempt.fate, 'failed')
    const { code, message, status, source, retryAfterMs, members, notAccepted, cause } = error
    assert.deepEqual(
      { code, message, status, source, retryAfterMs, members, notAccepted, cause },
      {
        code: 'soap_fault',
        message: 'Account is closed.',
        status: 400,
        source: 'upstream',
        retryAfterMs: 1_501,
        members: { faultcode: 'Client' },
        notAccepted: false,
        cause: undefined
      }
    )
  })

  it('reports any other thrown value as internal_error only', async () => {
    bench.owner.handler = async () => {
      throw new TypeError('secret of the owner')
    }
    const error = errorOf(await bench.call())
    assert.equal(error.code, 'internal_error')
    assert.ok(!JSON.stringify([error.message, error.members]).includes('secret'))
  })

  it('responds even if the members of a failure are too long or not JSON', async () => {
    const circular: Record<string, unknown> = { amount: 1n }
    circular['self'] = circular
    for (const members of [circular, { long: 'x'.repeat(FRAME_BYTES_MAX) }]) {
      bench.owner.handler = async () => {
        throw new SoukError('upstream_invalid_response', 'y'.repeat(FRAME_BYTES_MAX), { members })
      }
      const error = errorOf(await bench.call())
      assert.equal(error.code, 'upstream_invalid_response')
      assert.equal(error.members, undefined)
    }
    assert.equal((await bench.call()).fate, 'failed')
  })

  it('reports not_accepted if the owner did', async () => {
    bench.owner.handler = async () => {
      throw new SoukError('api_paused', undefined, { notAccepted: true })
    }
    const attempt = await bench.call()
    assert.deepEqual([attempt.fate, errorOf(attempt).code], ['not_accepted', 'api_paused'])
  })

  it('reports not_accepted if the owner is unreachable', async () => {
    await bench.owner.link.stop()
    const attempt = await bench.call()
    assert.deepEqual([attempt.fate, errorOf(attempt).code], ['not_accepted', 'owner_unreachable'])
  })

  describe('deadlines and cancellation', () => {
    /** A handler that ends with its signal, and the signal's reason. */
    const endless = () => {
      const reasons: SoukError[] = []
      bench.owner.handler = (_call, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason as SoukError)
            reject(signal.reason)
          })
        })
      return reasons
    }

    it('the owner times out first, and its error is returned', async () => {
      const reasons = endless()
      const calling = bench.call({ timeoutMs: 1_000 })
      await bench.clock.advance(1_000 - DEADLINE_HOP_MS - 1)
      assert.deepEqual(reasons, [])
      await bench.clock.advance(1)
      const attempt = await calling
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['failed', 'upstream_timeout'])
      assert.equal(errorOf(attempt).source, 'owner')
      assert.equal(reasons.length, 1)
    })

    it('an unresponsive owner is cancelled, and the outcome is unknown', async () => {
      let aborted: AbortSignal | undefined
      bench.owner.handler = (_call, signal) => {
        aborted = signal
        return new Promise(() => {})
      }
      const calling = bench.call({ timeoutMs: 1_000 })
      await bench.clock.advance(1_000)
      const attempt = await calling
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['lost', 'upstream_timeout'])
      await settle()
      assert.equal(aborted?.aborted, true)
      assert.equal(bench.consumer.calls.calling, 0)
    })

    it('an owner runs nothing longer than the maximum time of a call', async () => {
      const reasons = endless()
      void bench.call({ timeoutMs: 10 * UPSTREAM_TIMEOUT_MS_MAX })
      await bench.clock.advance(UPSTREAM_TIMEOUT_MS_MAX)
      assert.deepEqual(
        reasons.map(({ code }) => code),
        ['upstream_timeout']
      )
    })

    it('an abort by the caller reaches the owner’s handler', async () => {
      const reasons = endless()
      const stop = new AbortController()
      const calling = bench.call({}, stop.signal)
      await settle()
      stop.abort()
      const attempt = await calling
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['lost', 'call_interrupted'])
      await settle()
      assert.deepEqual(
        reasons.map(({ code }) => code),
        ['call_interrupted']
      )
      assert.equal(bench.owner.calls.serving, 0)
    })

    it('an abort with a SoukError returns that error', async () => {
      endless()
      const stop = new AbortController()
      const calling = bench.call({}, stop.signal)
      await settle()
      stop.abort(new SoukError('spend_cap_reached'))
      assert.equal(errorOf(await calling).code, 'spend_cap_reached')
    })

    it('a failed handler has its signal aborted', async () => {
      let signalled: AbortSignal | undefined
      bench.owner.handler = async (_call, signal) => {
        signalled = signal
        throw new SoukError('internal_error')
      }
      assert.equal((await bench.call()).fate, 'failed')
      assert.equal(signalled?.aborted, true)
    })

    it('a call that was cancelled before it started is never sent', async () => {
      const attempt = await bench.call({}, AbortSignal.abort())
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['not_accepted', 'call_interrupted'])
      await settle()
      assert.deepEqual(bench.owner.received, [])
    })

    it('a call that is cancelled while it connects is never sent', async () => {
      const stop = new AbortController()
      const calling = bench.call({}, stop.signal)
      stop.abort()
      assert.equal((await calling).fate, 'not_accepted')
      await settle()
      assert.deepEqual(bench.owner.received, [])
    })
  })

  describe('limits', () => {
    it('refuses calls above the peer’s limit, and accepts them again later', async () => {
      const release = Promise.withResolvers<void>()
      bench.owner.handler = async () => {
        await release.promise
        return responseOf()
      }
      const calls = Array.from({ length: IN_FLIGHT_PER_PEER_MAX + 3 }, () => bench.call())
      await settle()
      assert.equal(bench.owner.calls.serving, IN_FLIGHT_PER_PEER_MAX)
      release.resolve()
      const attempts = await Promise.all(calls)
      const refused = attempts.filter(({ fate }) => fate === 'not_accepted')
      assert.deepEqual(
        refused.map((attempt) => errorOf(attempt).code),
        ['overloaded', 'overloaded', 'overloaded']
      )
      assert.equal((await bench.call()).fate, 'answered')
    })

    it('refuses a call whose head exceeds a frame, without effect on others', async () => {
      assert.equal((await bench.call()).fate, 'answered')
      const release = Promise.withResolvers<void>()
      bench.owner.handler = async () => {
        await release.promise
        return responseOf()
      }
      const other = bench.call()
      const attempt = await bench.call({ headers: [['x-long', 'x'.repeat(FRAME_BYTES_MAX)]] })
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['failed', 'request_too_large'])
      release.resolve()
      assert.equal((await other).fate, 'answered')
    })

    it('fails a response whose head exceeds a frame, without effect on others', async () => {
      bench.owner.handler = async () => responseOf('{}', { headers: [['x-long', 'x'.repeat(FRAME_BYTES_MAX)]] })
      const attempt = await bench.call()
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['failed', 'response_too_large'])
      bench.owner.handler = async () => responseOf()
      assert.equal((await bench.call()).fate, 'answered')
    })

    it('reports invalid times as 0', async () => {
      bench.owner.handler = async () => responseOf('{}', { ownerMs: -3, upstreamMs: Number.NaN })
      const { ownerMs, upstreamMs } = answered(await bench.call())
      assert.deepEqual([ownerMs, upstreamMs], [0, 0])
    })
  })

  describe('acknowledgements', () => {
    it('of inline responses go to the owner in one frame', async () => {
      const ids = [callOf(), callOf(), callOf()]
      for (const { requestId } of ids) await bench.call({ requestId })
      assert.equal(bench.owner.acked.length, 0)
      await bench.clock.advance(ACK_DELAY_MS)
      assert.deepEqual(
        bench.owner.acked.map((batch) => batch.map((id) => Buffer.from(id).toString('hex'))),
        [ids.map(({ requestId }) => Buffer.from(requestId).toString('hex'))]
      )
    })

    it('are sent at once when there are many', async () => {
      await Promise.all(Array.from({ length: ACK_BATCH_MAX + 1 }, () => bench.call()))
      await settle()
      assert.deepEqual(
        bench.owner.acked.map(({ length }) => length),
        [ACK_BATCH_MAX]
      )
    })

    // The owner may still store a response: that of the first attempt, if this failure is a repeat's.
    it('are not sent for failures', async () => {
      for (const notAccepted of [true, false]) {
        bench.owner.handler = async () => {
          throw new SoukError('overloaded', undefined, { notAccepted })
        }
        await bench.call()
      }
      await bench.clock.advance(ACK_DELAY_MS)
      assert.deepEqual(bench.owner.acked, [])
    })
  })

  describe('draining', () => {
    it('sends new calls elsewhere, and finishes running ones', async () => {
      const release = Promise.withResolvers<void>()
      bench.owner.handler = async () => {
        await release.promise
        return responseOf('late')
      }
      const calling = bench.call()
      await settle()
      let isDrained = false
      const drained = bench.owner.calls.drain().then(() => (isDrained = true))
      await settle()
      const attempt = await bench.call()
      assert.deepEqual([attempt.fate, errorOf(attempt).code], ['not_accepted', 'owner_unreachable'])
      assert.equal(isDrained, false)
      release.resolve()
      assert.equal(await textOf(answered(await calling).body), 'late')
      await drained
      assert.equal(bench.owner.received.length, 1)
    })

    for (const drains of [1, 2]) {
      it(`${drains === 2 ? 'says' : 'does not say'} that a call on its way did not run, after ${drains} of its frames`, async () => {
        const raw = await rawPeer(bench.network, CONSUMER)
        raw.send(HELLO)
        await settle()
        const calling = bench.consumer.calls.call({ id: raw.link.self, addresses: [] }, callOf(), NEVER)
        await settle()
        assert.ok(raw.heard.some(({ kind }) => kind === 'request'))
        for (let sent = 0; sent < drains; sent++) raw.send({ kind: 'drain' })
        await raw.channel.close()
        bench.network.cut(raw.link.self)
        await bench.clock.advance(RESEND_MS)
        const attempt = await calling
        const expected = drains === 2 ? ['not_accepted', 'owner_unreachable'] : ['lost', 'call_interrupted']
        assert.deepEqual([attempt.fate, errorOf(attempt).code], expected)
      })
    }

    it('tells the peer a second time when all its calls have responses, and runs no further one', async () => {
      const release = Promise.withResolvers<void>()
      bench.owner.handler = async () => {
        await release.promise
        return responseOf()
      }
      const raw = await rawPeer(bench.network, OWNER)
      raw.send(HELLO)
      raw.send(requestFrame({ id: 1 }))
      await settle()
      const drained = bench.owner.calls.drain()
      await settle()
      const later = await rawPeer(bench.network, OWNER, peerId('S'))
      release.resolve()
      await drained
      raw.send(requestFrame({ id: 2 }))
      await settle()
      const kinds = ({ heard }: typeof raw) => heard.map(({ kind }) => kind)
      assert.deepEqual(kinds(raw), ['hello', 'drain', 'response', 'drain', 'failure'])
      assert.deepEqual(kinds(later), ['hello', 'drain', 'drain'])
      const refused = raw.heard.at(-1)
      assert.ok(refused?.kind === 'failure' && refused.notAccepted)
      assert.equal(bench.owner.received.length, 1)
    })

    it('does not stop outgoing calls of the draining node', async () => {
      await bench.call()
      await bench.owner.calls.drain()
      await settle()
      const back = await bench.owner.calls.call({ id: CONSUMER, addresses: [] }, callOf(), NEVER)
      assert.equal(back.fate, 'answered')
    })
  })

  it('identifies the peer by the link, not by the content of the call', async () => {
    await bench.call()
    assert.equal(bench.owner.received[0]?.peer, CONSUMER)
    assert.equal(bench.consumer.link.peers()[0]?.id, OWNER)
  })
})

/** Compares Buffers and Uint8Arrays by their bytes. Absent members are left out. */
function plain(value: object): object {
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      member instanceof Uint8Array ? Buffer.from(member).toString('hex') : (member as unknown)
    ])
  )
}
