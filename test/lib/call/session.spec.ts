import assert from 'node:assert/strict'
import { utf8 } from '../../../lib/base/bytes.ts'
import type { SoukError } from '../../../lib/base/errors.ts'
import { IN_FLIGHT_PER_PEER_MAX } from '../../../lib/base/limits/admission.ts'
import { FAILURE_DETAIL_CHARS_MAX } from '../../../lib/base/limits/call.ts'
import {
  FRAME_BYTES_MAX,
  HELLO_MS,
  UNSENT_BYTES_MAX,
  UNSENT_PER_PEER_BYTES_MAX
} from '../../../lib/base/limits/link.ts'
import { requestIdBytes } from '../../../lib/base/request-id.ts'
import type { BulkSource } from '../../../lib/interface/link.ts'
import { encodeFrame } from '../../../lib/call/frame.ts'
import { Session } from '../../../lib/call/session.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { settle } from '../../helpers/manual-clock.ts'
import { responseOf, type CallBench, callBench, callOf, errorOf, HELLO, OWNER, rawPeer, requestFrame } from './bench.ts'

describe('a session', () => {
  let bench: CallBench
  beforeEach(async () => {
    bench = await callBench()
  })

  it('disconnects a peer of another network, and runs none of its calls', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    peer.send({ ...HELLO, network: 'elsewhere' } as typeof HELLO)
    peer.send(requestFrame())
    await settle()
    assert.equal(peer.closes.length, 1)
    assert.equal(bench.owner.received.length, 0)
  })

  it('sends its hello first, and disconnects a peer that sends none', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    await settle()
    assert.deepEqual(peer.heard, [
      { kind: 'hello', network: 'dev', epoch: 100n, agent: 'test', inFlightMax: IN_FLIGHT_PER_PEER_MAX }
    ])
    peer.send(requestFrame())
    await settle()
    assert.equal(peer.closes.length, 1)
    assert.equal(bench.owner.received.length, 0)
  })

  it('does not wait for a hello that never comes', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    await bench.clock.advance(HELLO_MS)
    assert.equal(peer.closes.length, 1)
  })

  it('keeps no text of a hello, which may fill a frame', async () => {
    const link = bench.network.link('12D3KooWlistener')
    let session: Session | undefined
    link.onChannel = (channel) => {
      session = new Session(channel, { clock: bench.clock, network: 'dev', epoch: 1n, agent: 'test' })
    }
    await link.start()
    const peer = await rawPeer(bench.network, link.self)
    peer.send({ ...HELLO, agent: 'a'.repeat(FRAME_BYTES_MAX / 2) } as typeof HELLO)
    await settle()
    assert.deepEqual(await session?.ready, { epoch: 7n, inFlightMax: 1_024 })
    assert.deepEqual(session?.hello, { epoch: 7n, inFlightMax: 1_024 })
  })

  it('that breaks right after the hello accepts no call', async () => {
    const { link } = bench.consumer
    const adopt = link.onChannel
    link.onChannel = (channel) => {
      adopt(channel)
      const { onFrame } = channel
      channel.onFrame = (frame) => {
        onFrame(frame)
        bench.network.cut(OWNER)
      }
    }
    const attempt = await bench.call()
    assert.deepEqual([attempt.fate, errorOf(attempt).code], ['not_accepted', 'owner_unreachable'])
    assert.equal(bench.clock.pending, 0)
  })

  it('with a silent owner ends the call at its own deadline', async () => {
    const mute = bench.network.link('12D3KooWmute')
    await mute.start()
    const calling = bench.consumer.calls.call(
      { id: '12D3KooWmute', addresses: [] },
      callOf({ timeoutMs: 300 }),
      undefined
    )
    await bench.clock.advance(300)
    const attempt = await calling
    assert.deepEqual([attempt.fate, errorOf(attempt).code], ['not_accepted', 'owner_unreachable'])
  })

  it('keeps the first hello and ignores later ones', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    peer.send(HELLO)
    peer.send({ ...HELLO, epoch: 8n, inFlightMax: 0 } as typeof HELLO)
    peer.send({ ...HELLO, network: 'elsewhere' } as typeof HELLO)
    peer.send(requestFrame())
    await settle()
    assert.equal(peer.closes.length, 0)
    assert.equal(bench.owner.received.length, 1)
  })

  it('disconnects on invalid frames, and ignores unknown kinds of frames', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    peer.send(HELLO)
    peer.channel.send(Uint8Array.of(0xa2, 0x06, 1, 7))
    peer.send(requestFrame())
    await settle()
    assert.equal(bench.owner.received.length, 1)
    peer.channel.send(Uint8Array.of(0x0a, 0xff))
    await settle()
    assert.equal(peer.closes.length, 1)
  })

  it('disconnects on ids that do not increase, and runs nothing sent after them', async () => {
    for (const { ids, runs } of [
      { ids: [0, 1], runs: 0 },
      { ids: [1, 1, 2], runs: 1 },
      { ids: [1, 5, 4, 6], runs: 2 }
    ]) {
      const peer = await rawPeer(bench.network, OWNER)
      peer.send(HELLO)
      const before = bench.owner.received.length
      for (const id of ids) {
        if (peer.channel.open) peer.send(requestFrame({ id }))
        // Earlier calls are over, so their ids are not in use any more.
        await settle()
      }
      assert.deepEqual([peer.closes.length, bench.owner.received.length - before], [1, runs], ids.join())
      await peer.link.stop()
    }
  })

  it('runs nothing for a call without time, and says so', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    peer.send(HELLO)
    peer.send(requestFrame({ timeoutMs: 0 }))
    await bench.clock.advance(0)
    const [failure] = peer.heard.filter((frame) => frame.kind === 'failure')
    assert.deepEqual([failure?.code, failure?.notAccepted], ['upstream_timeout', true])
    assert.equal(bench.owner.received.length, 0)
  })

  it('refuses malformed calls, and accepts the next call', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    peer.send(HELLO)
    const malformed = [
      { api: 'ticker' },
      { api: 'ticker@nobody' },
      { api: `Ticker@${OWNER}` },
      { requestId: new Uint8Array(15) },
      { requestId: new Uint8Array(16) },
      { requestId: requestIdBytes('018f3c5e-7a00-4000-8000-000000000001') },
      { requestId: requestIdBytes('018f3c5e-7a00-7000-c000-000000000001') },
      { method: 'get it' },
      { path: 'http://127.0.0.1/' },
      { path: '@evil.example/' },
      { path: `/${'x'.repeat(9_000)}` },
      { idempotencyKey: 'x'.repeat(256) },
      { idempotencyKey: 'ключ' },
      { idempotencyKey: 'a\nb' }
    ]
    for (const [i, changes] of malformed.entries()) peer.send(requestFrame({ id: i + 1, ...changes }))
    peer.send(requestFrame({ id: 100, path: '/fine?x=\n' }))
    await settle()
    const failures = peer.heard.filter((frame) => frame.kind === 'failure')
    assert.deepEqual(
      failures.map(({ code, notAccepted }) => [code, notAccepted]),
      malformed.map(() => ['invalid_request', true])
    )
    assert.deepEqual(
      bench.owner.received.map(({ path }) => path),
      ['/fine?x=\n']
    )
  })

  it('refuses calls above the limit as overloaded and not accepted', async () => {
    bench.owner.handler = () => new Promise(() => {})
    const peer = await rawPeer(bench.network, OWNER)
    peer.send(HELLO)
    for (let id = 1; id <= IN_FLIGHT_PER_PEER_MAX + 1; id++) peer.send(requestFrame({ id }))
    await settle()
    const [failure, ...more] = peer.heard.filter((frame) => frame.kind === 'failure')
    assert.deepEqual(more, [])
    assert.deepEqual(
      [failure?.id, failure?.code, failure?.notAccepted],
      [IN_FLIGHT_PER_PEER_MAX + 1, 'overloaded', true]
    )
  })

  it('refuses calls of a peer that does not read its large responses, until they are over', async () => {
    const large = new Uint8Array(UNSENT_PER_PEER_BYTES_MAX / 4)
    bench.owner.handler = async () => ({ ...responseOf('{}'), body: large })
    const peer = await rawPeer(bench.network, OWNER)
    const sources: BulkSource[] = []
    peer.link.onBulk = (_peer, _tag, source) => void sources.push(source)
    peer.send(HELLO)
    const failures = () => peer.heard.filter((frame) => frame.kind === 'failure')
    for (let id = 1; id <= 4; id++) {
      peer.send(requestFrame({ id }))
      await settle()
    }
    assert.deepEqual([failures().length, sources.length], [0, 4])
    peer.send(requestFrame({ id: 5 }))
    await settle()
    const [failure] = failures()
    assert.deepEqual([failure?.id, failure?.code, failure?.notAccepted], [5, 'overloaded', true])
    for (const source of sources) source.abort(new Error('not wanted'))
    await settle()
    peer.send(requestFrame({ id: 6 }))
    await settle()
    assert.equal(failures().length, 1)
  })

  it('refuses calls of peers that leave responses unread, while those of all peers fill the memory', async () => {
    const large = new Uint8Array(UNSENT_BYTES_MAX / 16)
    bench.owner.handler = async () => ({ ...responseOf('{}'), body: large })
    const sources: BulkSource[] = []
    const peers = await Promise.all(
      Array.from({ length: 16 }, async (_, at) => {
        const peer = await rawPeer(bench.network, OWNER, peerId('123456789abcdefg'.charAt(at)))
        peer.link.onBulk = (_peer, _tag, source) => void sources.push(source)
        peer.send(HELLO)
        return peer
      })
    )
    const failures = ({ heard }: (typeof peers)[number]) => heard.filter((frame) => frame.kind === 'failure').length
    const call = async (id: number) => {
      for (const peer of peers) peer.send(requestFrame({ id }))
      await settle()
    }
    await call(1)
    assert.deepEqual(peers.map(failures), Array(16).fill(0))
    await call(2)
    assert.deepEqual(peers.map(failures), Array(16).fill(1))
    const reader = await rawPeer(bench.network, OWNER, peerId('Z'))
    reader.send(HELLO)
    reader.send(requestFrame())
    await settle()
    assert.equal(failures(reader), 0)
    for (const source of sources) source.abort(new Error('not wanted'))
    await settle()
    await call(3)
    assert.deepEqual(peers.map(failures), Array(16).fill(1))
  })

  it('takes one acknowledgement for each response that it sent, and ignores the others', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    peer.send(HELLO)
    const ids = Array.from({ length: 1_000 }, () => freshIds.next())
    const [first, second] = ids as [Uint8Array, Uint8Array]
    peer.send({ kind: 'ack', requestIds: ids })
    await settle()
    assert.equal(bench.owner.acked.length, 0)
    peer.send(requestFrame({ id: 1, requestId: first }))
    peer.send(requestFrame({ id: 2, requestId: second }))
    await settle()
    for (let n = 0; n < 3; n++) peer.send({ kind: 'ack', requestIds: ids })
    await settle()
    assert.equal(bench.owner.acked.flat().length, 2)
    assert.deepEqual(bench.owner.acked.flat(), [first, second])
    assert.equal(peer.closes.length, 0)
  })

  it('ignores cancels and responses of unknown calls', async () => {
    const peer = await rawPeer(bench.network, OWNER)
    peer.send(HELLO)
    peer.send({ kind: 'cancel', id: 99 })
    peer.send({
      kind: 'failure',
      id: 99,
      code: 'x',
      detail: '',
      status: 0,
      notAccepted: true,
      source: '',
      retryAfterMs: 0,
      members: ''
    })
    peer.send({
      kind: 'response',
      id: 99,
      status: 200,
      headers: [],
      body: utf8(''),
      charged: 0n,
      receipt: utf8(''),
      ownerUs: 0,
      upstreamUs: 0,
      payment: undefined,
      replayed: false,
      rate: undefined,
      quota: undefined,
      eventPrice: undefined
    })
    await settle()
    assert.equal(peer.closes.length, 0)
  })

  it('does not trust an owner’s failure: unknown codes, invalid statuses, control characters, malformed members', async () => {
    const liar = bench.network.link('12D3KooWliar')
    await liar.start()
    const lies = [
      { code: 'constructor', detail: 'x', status: 200, members: '{}' },
      { code: 'soap_fault', detail: 'a\u0000b\u202ec', status: 9, members: '[1]' },
      {
        code: 'soap_fault',
        detail: 'x'.repeat(100_000).slice(0, 50_000),
        status: 400,
        members: '{"__proto__":{"a":1},"b":'
      }
    ]
    let next = 0
    liar.onChannel = (channel) => {
      channel.send(encodeFrame(HELLO))
      channel.onFrame = () => {
        next++
        const lie = lies[next - 2]
        if (lie === undefined) return
        channel.send(
          encodeFrame({ kind: 'failure', id: next - 1, notAccepted: false, source: 'god', retryAfterMs: 0, ...lie })
        )
      }
    }
    const errors: SoukError[] = []
    for (const _ of lies) {
      errors.push(errorOf(await bench.consumer.calls.call({ id: '12D3KooWliar', addresses: [] }, callOf(), undefined)))
    }
    assert.deepEqual(
      errors.map(({ code, status, source, members }) => ({ code, status, source, members })),
      [
        { code: 'internal_error', status: 500, source: 'owner', members: undefined },
        { code: 'soap_fault', status: 502, source: 'owner', members: undefined },
        { code: 'soap_fault', status: 400, source: 'owner', members: undefined }
      ]
    )
    assert.equal(errors[1]?.message, 'a b c')
    assert.equal(errors[2]?.message.length, FAILURE_DETAIL_CHARS_MAX)
  })
})
