import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { gzipSync, constants, createGzip } from 'node:zlib'
import { VALUE_SILENCE_MS } from '../../../lib/base/limits/upstream.ts'
import type { Adapter, AdapterReply } from '../../../lib/interface/adapter.ts'
import { restFactory } from '../../../protocols/rest/rest-factory.ts'
import { FOREVER, jsonOf, plainCall, rejectsWith } from '../../helpers/adapter-bench.ts'
import { hanging, type ScriptedUpstream, scriptedUpstream, until } from '../../helpers/scripted-upstream.ts'

const json = { 'content-type': 'application/json' }

describe('JSON values of a response that come line by line', () => {
  let upstream: ScriptedUpstream
  let adapter: Adapter
  let response: ServerResponse

  beforeEach(async () => {
    upstream = await scriptedUpstream(hanging)
    adapter = restFactory.open({ endpoint: upstream.url, timeoutMs: 10 * VALUE_SILENCE_MS }, '')
  })
  afterEach(async () => {
    await adapter.close?.()
    await upstream.close()
  })

  function call(begin: (response: ServerResponse) => void): Promise<AdapterReply> {
    upstream.behave((each) => begin((response = each)))
    return adapter.call(plainCall({}), FOREVER)
  }

  function reader({ body }: AdapterReply): () => Promise<string> {
    assert(!(body instanceof Uint8Array), 'the body is not streamed')
    const chunks = body[Symbol.asyncIterator]()
    return async () => String(Buffer.from((await chunks.next()).value ?? ''))
  }

  it('are passed on as they arrive, although their type is that of one document', async () => {
    const read = reader(await call((each) => each.writeHead(200, json).write('\n{"type": "ADDED"}\n')))
    assert.equal(await read(), '\n{"type": "ADDED"}\n')
    const second = read()
    response.write('{"type": "DELETED"}\n')
    assert.equal(await second, '{"type": "DELETED"}\n')
  })

  it('are passed on at once if two are there', async () => {
    const read = reader(await call((each) => each.writeHead(200, json).write('1\n2')))
    assert.equal(await read(), '1\n2')
  })

  it('are passed on if they are compressed', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    const read = reader(
      await call((each) => {
        gzip.pipe(each.writeHead(200, { ...json, 'content-encoding': 'gzip' }))
        gzip.write('{"n": 1}\n')
      })
    )
    assert.equal(await read(), '{"n": 1}\n')
    gzip.write('{"n": 2}\n')
    assert.equal(await read(), '{"n": 2}\n')
    gzip.end()
  })

  for (const type of ['application/stream+json', 'application/x-ndjson', 'application/jsonl']) {
    it(`are passed on before the first, as ${type}`, async () => {
      const read = reader(await call((each) => each.writeHead(200, { 'content-type': type }).flushHeaders()))
      response.write('{}\n')
      assert.equal(await read(), '{}\n')
    })
  }

  it('end with the API or with their reader', async () => {
    const { body } = await call((each) => each.writeHead(200, json).write('{}\n'))
    assert(!(body instanceof Uint8Array))
    const chunks = body[Symbol.asyncIterator]()
    await chunks.next()
    const pending = chunks.next()
    await chunks.return?.()
    await rejectsWith(pending, 'call_interrupted')
    await until(() => upstream.received[0]?.gone === true, 'the upstream to lose its connection')
    const broken = reader(await call((each) => each.writeHead(200, json).write('{}\n')))
    await broken()
    const lost = broken()
    response.destroy()
    await rejectsWith(lost, 'upstream_unreachable')
  })

  for (const coding of ['identity', 'gzip']) {
    it(`are not seen in a document that comes in parts (${coding})`, async () => {
      const [first, last] = ['{\n"a": 1,\n', '"b": 2\n}\n']
      const parts = coding === 'gzip' ? split(gzipSync(first + last)) : [first, last]
      const reply = await call((each) => {
        each.writeHead(200, { ...json, 'content-encoding': coding }).write(parts[0])
        setTimeout(() => each.end(parts[1]), 2 * VALUE_SILENCE_MS)
      })
      assert(reply.body instanceof Uint8Array)
      assert.deepEqual(await jsonOf(reply), { a: 1, b: 2 })
    })
  }
})

function split(bytes: Uint8Array): Uint8Array[] {
  return [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)]
}
