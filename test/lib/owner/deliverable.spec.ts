import assert from 'node:assert/strict'
import { RESPONSE_JSON_DEPTH_MAX } from '../../../lib/base/limits/call.ts'
import type { AdapterReply } from '../../../lib/interface/adapter.ts'
import { handler } from '../../../lib/owner/handler.ts'
import { streamOf } from '../../helpers/bodies.ts'
import { ID, incoming, NEVER, OwnerBench, replyOf, servedApi } from './bench.ts'

const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`

describe('an undeliverable response', () => {
  let bench: OwnerBench
  beforeEach(async () => {
    bench = await OwnerBench.open()
  })

  const answers = (reply: AdapterReply) => {
    bench.adapter.answer = async () => reply
    return bench.handle()
  }

  const undeliverable: ReadonlyArray<readonly [what: string, reply: AdapterReply]> = [
    ['JSON 10,000 levels deep', replyOf(nested(10_000))],
    ['JSON just too deep', replyOf(nested(RESPONSE_JSON_DEPTH_MAX + 2))],
    [
      'deep JSON by another name',
      replyOf(nested(10_000), { headers: [['Content-Type', 'application/hal+json; a=b']] })
    ],
    ['deep JSON that never closes', replyOf('['.repeat(10_000))],
    ['a status below those of HTTP', replyOf('{}', { status: 99 })],
    ['an interim status', replyOf('{}', { status: 101 })],
    ['a status that asks for a payment', replyOf('{}', { status: 402, success: false })],
    ['a status that asks for a login at a proxy', replyOf('{}', { status: 407, success: false })],
    ['a status that is no number', replyOf('{}', { status: Number.NaN })],
    ['a header with a line break', replyOf('{}', { headers: [['x-a', 'b\r\nx-c: d']] })],
    ['a header name with a space', replyOf('{}', { headers: [['x a', 'b']] })],
    ['a header past Latin-1', replyOf(streamOf('a'), { headers: [['x-a', '\u{20ac}']] })]
  ]
  for (const [what, reply] of undeliverable) {
    it(`is not charged: ${what}`, async () => {
      await assert.rejects(answers(reply), { code: 'upstream_invalid_response', source: 'upstream' })
      const [record] = await bench.records()
      assert.deepEqual([record?.charged, record?.code], [0n, 'upstream_invalid_response'])
    })
  }

  it('is abandoned if it is a stream', async () => {
    const left = Promise.withResolvers<unknown>()
    const source = { next: () => Promise.resolve({ done: false as const, value: Buffer.from('a') }) }
    const body = { [Symbol.asyncIterator]: () => ({ ...source, return: async () => (left.resolve(1), source.next()) }) }
    await assert.rejects(answers(replyOf(body, { status: 407, success: false })), { code: 'upstream_invalid_response' })
    await left.promise
  })

  it('is not confused with a valid unusual response', async () => {
    for (const reply of [
      replyOf(nested(RESPONSE_JSON_DEPTH_MAX)),
      replyOf(JSON.stringify({ text: '['.repeat(10_000) })),
      replyOf('['.repeat(10_000), { headers: [['content-type', 'text/plain']] }),
      replyOf('', { headers: [['content-type', 'application/json']] })
    ]) {
      assert.equal((await answers(reply)).status, 200)
    }
  })
})

describe('an invalid request at an owner', () => {
  for (const [what, body] of [
    ['30,000 levels deep', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['deep behind brackets that close nothing', `${']'.repeat(30_000)}${'['.repeat(30_000)}`],
    ['unbalanced', '{"a":[1}']
  ] as const) {
    it(`is refused before its code runs: ${what}`, async () => {
      const bench = await OwnerBench.open()
      let runs = 0
      await bench.owner.apis.set(servedApi(handler(() => ++runs)))
      const call = incoming({ api: ID, body: Buffer.from(body) })
      await assert.rejects(bench.owner.handle(call, NEVER), { code: 'invalid_request' })
      assert.equal(runs, 0)
    })
  }
})
