import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { text, utf8 } from '../../lib/base/bytes.ts'
import { EXCHANGE_MS, FRAME_BYTES_MAX, HELLO_MS } from '../../lib/base/limits/link.ts'
import { eventually, within } from '../helpers/eventually.ts'
import { type Bench, BOUND_MS, closed, count, type LinkPair, NEVER, PROTOCOL, Side, TAG } from './link-bench.ts'
import { brokenBulkCases, bulkCases } from './link-bulk.ts'

/** The contract of `lib/interface/link.ts`, case by case. */
export function linkSuite(name: string, create: () => Promise<LinkPair>): void {
  describe(`${name} fulfils the Link contract`, () => {
    let bench: Bench
    beforeEach(async () => {
      const pair = await create()
      const [a, b] = [new Side(pair.a), new Side(pair.b)]
      b.link.serve(PROTOCOL, async (request, peer) => utf8(`${text(request)} from ${peer}`), { requestBytesMax: 100 })
      b.link.serve('/test/silent/1.0.0', () => new Promise(() => {}), { requestBytesMax: 100 })
      b.link.serve('/test/broken/1.0.0', async () => Promise.reject(new Error('secret')), { requestBytesMax: 100 })
      await pair.start()
      const connect = async () => {
        const ours = a.of(await a.link.connect(pair.address(b.link), NEVER))
        return { ours, theirs: await b.channel() }
      }
      const openBulk = async () => {
        const { ours } = await connect()
        const sink = await ours.channel.openBulk(TAG, NEVER)
        return { sink, source: (await b.bulk()).source }
      }
      bench = { pair, a, b, connect, openBulk }
    })
    afterEach(() => bench.pair.dispose())

    describe('frames', () => frameCases(() => bench))
    describe('the end of a channel', () => endCases(() => bench))
    describe('connecting', () => connectCases(() => bench))
    describe('bulk streams', () => bulkCases(() => bench))
    describe('broken bulk streams', () => brokenBulkCases(() => bench))
    describe('exchanges', () => exchangeCases(() => bench))
  })
}

function frameCases(bench: () => Bench): void {
  it('arrive in order, in both directions, many at once', async () => {
    const { ours, theirs } = await bench().connect()
    for (let i = 0; i < 2_000; i++) {
      ours.channel.send(utf8(`a${i}`))
      theirs.channel.send(utf8(`b${i}`))
    }
    await Promise.all([count(ours, 2_000), count(theirs, 2_000)])
    assert.deepEqual(
      theirs.frames.map(text),
      Array.from({ length: 2_000 }, (_, i) => `a${i}`)
    )
    assert.deepEqual(
      ours.frames.map(text),
      Array.from({ length: 2_000 }, (_, i) => `b${i}`)
    )
  })

  it('carry their sender, and which side opened the channel', async () => {
    const { ours, theirs } = await bench().connect()
    const { a, b } = bench()
    assert.deepEqual([ours.channel.peer, theirs.channel.peer], [b.link.self, a.link.self])
    assert.deepEqual([ours.channel.outbound, theirs.channel.outbound], [true, false])
    assert.deepEqual([ours.channel.open, theirs.channel.open], [true, true])
  })

  it('may be empty, or have the maximum size', async () => {
    const { ours, theirs } = await bench().connect()
    const large = Uint8Array.from({ length: FRAME_BYTES_MAX }, (_, i) => i * 31)
    const frames = [utf8('before'), new Uint8Array(0), large, new Uint8Array(90 * 1024).fill(7), utf8('after')]
    for (const frame of frames) ours.channel.send(frame)
    await count(theirs, frames.length)
    for (const [i, frame] of frames.entries())
      assert.ok(Buffer.from(frame).equals(theirs.frames[i] ?? new Uint8Array()))
  })

  it('above the maximum size end the channel and are not delivered', async () => {
    const { ours, theirs } = await bench().connect()
    ours.channel.send(new Uint8Array(FRAME_BYTES_MAX + 1))
    await Promise.all([closed(ours), closed(theirs)])
    assert.deepEqual(theirs.frames, [])
    assert.ok(ours.closes[0] instanceof Error && theirs.closes[0] instanceof Error)
  })

  it('whose handler throws end the channel, and later frames are not delivered', async () => {
    const { ours, theirs } = await bench().connect()
    const heard: string[] = []
    theirs.channel.onFrame = (frame) => {
      heard.push(text(frame))
      if (text(frame) === 'bad') throw new Error('not a frame')
    }
    for (const frame of ['good', 'bad', 'late']) ours.channel.send(utf8(frame))
    await Promise.all([closed(ours), closed(theirs)])
    assert.deepEqual(heard, ['good', 'bad'])
    assert.equal(theirs.closes[0]?.message, 'not a frame')
  })

  it('are counted while they wait', async () => {
    const { ours, theirs } = await bench().connect()
    ours.channel.send(new Uint8Array(1_000))
    assert.ok(ours.channel.queuedBytes >= 1_000)
    await count(theirs, 1)
    assert.equal(ours.channel.queuedBytes, 0)
  })
}

function endCases(bench: () => Bench): void {
  it('by close follows all sent frames, without an error, once per side', async () => {
    const { ours, theirs } = await bench().connect()
    for (let i = 0; i < 100; i++) ours.channel.send(utf8(`${i}`))
    await within('close', BOUND_MS, ours.channel.close())
    await Promise.all([closed(ours), closed(theirs)])
    assert.equal(theirs.frames.length, 100)
    await Promise.all([ours.channel.close(), theirs.channel.close()])
    theirs.channel.abort(new Error('too late'))
    await turn()
    assert.deepEqual([ours.closes, theirs.closes], [[undefined], [undefined]])
  })

  it('by abort is an error on both sides, once', async () => {
    const { ours, theirs } = await bench().connect()
    const error = new Error('enough')
    ours.channel.abort(error)
    ours.channel.abort(new Error('again'))
    await Promise.all([closed(ours), closed(theirs)])
    await turn()
    assert.deepEqual(ours.closes, [error])
    assert.equal(theirs.closes.length, 1)
    assert.ok(theirs.closes[0] instanceof Error)
  })

  it('makes every later send throw owner_unreachable', async () => {
    const { ours, theirs } = await bench().connect()
    const closing = ours.channel.close()
    assert.equal(ours.channel.open, false)
    assert.throws(() => ours.channel.send(utf8('late')), { code: 'owner_unreachable' })
    await closing
    await closed(theirs)
    assert.throws(() => theirs.channel.send(utf8('late')), { code: 'owner_unreachable' })
    await assert.rejects(theirs.channel.openBulk(TAG, AbortSignal.abort(new Error('given up'))))
  })

  it('reaches all channels of a link that stops', async () => {
    const { ours, theirs } = await bench().connect()
    ours.channel.send(utf8('last words'))
    await within('stop', BOUND_MS, bench().a.link.stop())
    await closed(theirs)
    assert.deepEqual(theirs.frames.map(text), ['last words'])
    assert.deepEqual([ours.closes, theirs.closes], [[undefined], [undefined]])
    const { a, b, pair } = bench()
    await assert.rejects(a.link.connect(pair.address(b.link), NEVER), { code: 'owner_unreachable' })
  })

  it('allows a new channel', async () => {
    const { ours } = await bench().connect()
    await ours.channel.close()
    const { a, b, pair } = bench()
    const again = await a.link.connect(pair.address(b.link), NEVER)
    assert.notEqual(again, ours.channel)
    again.send(utf8('hello again'))
    await eventually('the frame', BOUND_MS, () => b.heard.find(({ frames }) => frames.length > 0))
  })
}

function connectCases(bench: () => Bench): void {
  it('again returns the same channel on either side', async () => {
    const { ours, theirs } = await bench().connect()
    const { a, b, pair } = bench()
    const again = await Promise.all([
      a.link.connect(pair.address(b.link), NEVER),
      a.link.connect(pair.address(b.link), NEVER),
      b.link.connect(pair.address(a.link), NEVER)
    ])
    assert.deepEqual(again, [ours.channel, ours.channel, theirs.channel])
    assert.deepEqual([a.heard.length, b.heard.length], [1, 1])
  })

  it('many times at once opens one channel', async () => {
    const { a, b, pair } = bench()
    const channels = await Promise.all(Array.from({ length: 20 }, () => a.link.connect(pair.address(b.link), NEVER)))
    assert.equal(new Set(channels).size, 1)
    assert.equal(a.heard.length, 1)
  })

  it('from both sides at once lets both sides send', async () => {
    const { a, b, pair } = bench()
    const [ours, theirs] = await Promise.all([
      a.link.connect(pair.address(b.link), NEVER),
      b.link.connect(pair.address(a.link), NEVER)
    ])
    ours.send(utf8('from a'))
    theirs.send(utf8('from b'))
    const framesOf = (side: Side) => side.heard.flatMap(({ frames }) => frames.map(text))
    await eventually('both', BOUND_MS, () => (framesOf(a).length + framesOf(b).length === 2 ? true : undefined))
    assert.deepEqual([framesOf(a), framesOf(b)], [['from b'], ['from a']])
    await Promise.all([a.link.stop(), b.link.stop()])
    await eventually('the end of all', BOUND_MS, () =>
      [...a.heard, ...b.heard].every(({ closes }) => closes.length === 1) ? true : undefined
    )
  })

  it('to an unreachable peer fails with owner_unreachable, in time', async () => {
    const { a, pair } = bench()
    const connecting = within('a response', HELLO_MS, a.link.connect(pair.nobody, NEVER))
    await assert.rejects(connecting, { code: 'owner_unreachable' })
  })

  it('ends with the signal, without effect on other callers', async () => {
    const { a, b, pair } = bench()
    const reason = new Error('changed my mind')
    await assert.rejects(a.link.connect(pair.nobody, AbortSignal.abort(reason)), reason)
    const stop = new AbortController()
    const given = a.link.connect(pair.address(b.link), stop.signal)
    const kept = a.link.connect(pair.address(b.link), NEVER)
    stop.abort(reason)
    await assert.rejects(given, reason)
    assert.equal((await kept).open, true)
  })

  it('makes both nodes peers of each other', async () => {
    const { a, b } = bench()
    assert.deepEqual([a.link.peers(), b.link.peers()], [[], []])
    await bench().connect()
    assert.deepEqual(
      [a.link.peers().map(({ id }) => id), b.link.peers().map(({ id }) => id)],
      [[b.link.self], [a.link.self]]
    )
  })
}

function exchangeCases(bench: () => Bench): void {
  const ask = (protocol: string, request: string, responseBytesMax = 1_000, signal = NEVER) => {
    const { a, b, pair } = bench()
    return a.link.exchange(pair.address(b.link), protocol, utf8(request), { responseBytesMax, signal })
  }
  const unreachable = { code: 'owner_unreachable' }

  it('transfer requests and responses, many at once', async () => {
    const asked = Array.from({ length: 20 }, (_, i) => ask(PROTOCOL, `${i}`))
    const expected = asked.map((_, i) => `${i} from ${bench().a.link.self}`)
    assert.deepEqual((await Promise.all(asked)).map(text), expected)
  })

  it('fail with owner_unreachable if the response or the request is too large', async () => {
    await assert.rejects(ask(PROTOCOL, 'hello', 10), unreachable)
    await assert.rejects(ask(PROTOCOL, 'x'.repeat(101)), unreachable)
  })

  it('fail with owner_unreachable if no handler is registered, or the handler throws', async () => {
    await assert.rejects(ask('/test/unknown/1.0.0', 'hello'), unreachable)
    await assert.rejects(ask('/test/broken/1.0.0', 'hello'), (error: Error) => {
      assert.ok(!error.message.includes('secret'))
      return true
    })
  })

  it('fail with owner_unreachable if the peer is unreachable', async () => {
    const { a, pair } = bench()
    const asking = a.link.exchange(pair.nobody, PROTOCOL, utf8('hello'), { responseBytesMax: 100, signal: NEVER })
    await assert.rejects(within('a response', BOUND_MS, asking), unreachable)
  })

  /** The time starts again while the bytes of the request pass. */
  async function endsAfter(ms: number, asking: Promise<unknown>): Promise<void> {
    const { pair } = bench()
    let isOver = false
    const failing = assert.rejects(asking, unreachable).finally(() => (isOver = true))
    await pair.advance(ms - 1)
    assert.equal(isOver, false)
    await eventually('giving up', BOUND_MS, async () => {
      await pair.advance(ms)
      return isOver || undefined
    })
    await failing
  }

  it('end at the default timeout with a silent peer', async () => {
    await endsAfter(EXCHANGE_MS, ask('/test/silent/1.0.0', 'hello'))
  })

  it('wait for the configured timeout', async () => {
    const { a, b, pair } = bench()
    const options = { responseBytesMax: 100, signal: NEVER, timeoutMs: 2 * EXCHANGE_MS }
    await endsAfter(
      2 * EXCHANGE_MS,
      a.link.exchange(pair.address(b.link), '/test/silent/1.0.0', utf8('hello'), options)
    )
  })

  it('end with the signal', async () => {
    const stop = new AbortController()
    const reason = new Error('no longer of interest')
    const asking = assert.rejects(ask('/test/silent/1.0.0', 'hello', 100, stop.signal), reason)
    await turn()
    stop.abort(reason)
    await within('giving up', BOUND_MS, asking)
  })
}
