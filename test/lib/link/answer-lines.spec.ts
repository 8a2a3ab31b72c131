import assert from 'node:assert/strict'
import type { Stream } from '@libp2p/interface'
import { streamPair } from '@libp2p/utils'
import { SELECT_BYTES_MAX, SELECT_LINES_MAX } from '../../../lib/base/limits/link.ts'
import { createNode } from '../../../lib/index.ts'
import { answerLines, selectLine, VERSION } from '../../../lib/link/answer-lines.ts'
import { isReceiving } from '../../../lib/link/checked-lengths.ts'
import { eventually } from '../../helpers/eventually.ts'
import { quietPeer } from '../../helpers/yamux-frames.ts'

const PROTOCOL = '/test/1.0.0'
const NO_LENGTH = new Uint8Array(100).fill(0xff)
const lines = (...texts: string[]) => Buffer.concat(texts.map(selectLine))

describe('the selection of the protocol of a stream', () => {
  let outbound: Stream
  let inbound: Stream
  /** What the peer was sent, and what went on to libp2p. */
  let answers: Buffer
  let passed: Buffer[]
  beforeEach(async () => {
    ;[outbound, inbound] = await streamPair()
    answers = Buffer.alloc(0)
    passed = []
    assert.ok(isReceiving(inbound))
    answerLines(inbound, (protocol) => protocol === PROTOCOL)
    inbound.addEventListener('message', ({ data }) => void passed.push(Buffer.from(data.subarray())))
    outbound.addEventListener('message', ({ data }) => {
      answers = Buffer.concat([answers, data.subarray()])
    })
  })
  const answered = (expected: Buffer) =>
    eventually('the answers', 2_000, () => (answers.length >= expected.length ? answers : undefined))

  const unserved = Array.from({ length: SELECT_LINES_MAX - 2 }, () => 'ls')
  for (const [how, send] of [
    ['at once', (bytes: Buffer) => void outbound.send(bytes)],
    ['byte by byte', (bytes: Buffer) => bytes.forEach((byte) => void outbound.send(Uint8Array.of(byte)))]
  ] as const) {
    it(`passes on the line of a served protocol and what follows, and answers all others: ${how}`, async () => {
      send(Buffer.concat([lines(VERSION, '/other/1.0.0', ...unserved, PROTOCOL), NO_LENGTH]))
      const expected = lines(VERSION, 'na', ...unserved.map(() => 'na'))
      assert.deepEqual(await answered(expected), expected)
      const data = Buffer.concat([lines(PROTOCOL), NO_LENGTH])
      await eventually('all data', 2_000, () => (Buffer.concat(passed).length >= data.length ? true : undefined))
      assert.deepEqual(Buffer.concat(passed), data)
      assert.equal(inbound.status, 'open')
    })
  }

  it('answers the version before a protocol is named', async () => {
    outbound.send(lines(VERSION))
    assert.deepEqual(await answered(lines(VERSION)), lines(VERSION))
  })

  for (const [what, bytes] of [
    ['has too many lines', lines(...Array.from({ length: SELECT_LINES_MAX + 1 }, () => 'ls'))],
    ['has a length without an end', Buffer.concat([lines(VERSION), NO_LENGTH])],
    ['has a line that is too long', lines('a'.repeat(SELECT_BYTES_MAX))],
    ['has a line without a line feed', Buffer.from('\u0003abc')]
  ] as const) {
    it(`aborts the stream when it ${what}`, async () => {
      outbound.send(bytes)
      await eventually('the end of the stream', 2_000, () => (inbound.status === 'aborted' ? true : undefined))
      assert.deepEqual(passed, [])
    })
  }

  it('is that of a node', async () => {
    const node = await createNode()
    await node.start()
    const peer = await quietPeer()
    try {
      const connection = await peer.dial(node.libp2p.getMultiaddrs())
      const { muxer } = connection as unknown as { readonly muxer: { createStream(): Promise<Stream> } }
      const stream = await muxer.createStream()
      stream.addEventListener('message', ({ data }) => {
        answers = Buffer.concat([answers, data.subarray()])
      })
      const ping = '/ipfs/ping/1.0.0'
      stream.send(lines(VERSION, 'ls', '/other/1.0.0', ping))
      const expected = lines(VERSION, 'na', 'na', ping)
      assert.deepEqual(await answered(expected), expected)
    } finally {
      await peer.stop()
      await node.stop()
    }
  })
})
