import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { SoukError } from '../../../lib/base/errors.ts'
import { SSE_EVENT_BYTES_MAX } from '../../../lib/base/limits/upstream.ts'
import { SSE_FRAMES, singleEvents } from '../../../protocols/rest/single-events.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

async function* chunked(text: string, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : (sizes[i % sizes.length] ?? 1)
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const cut = async (text: string, sizes: readonly number[] = []) => {
  const found: Uint8Array[] = []
  for await (const chunk of singleEvents(chunked(text, sizes))) found.push(Uint8Array.from(chunk))
  return found
}

describe('events of a REST API', () => {
  it('arrive one by one, for any line ends and chunk boundaries, without a lost or changed byte', async () => {
    const line = fc.constantFrom(
      'data: 1',
      'data:x',
      'data',
      ': note',
      'event: tick',
      'id: 5',
      'other: data',
      'data: é'
    )
    const block = fc.array(line, { minLength: 1, maxLength: 4 })
    const property = fc.asyncProperty(
      fc.array(block, { maxLength: 6 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      async (blocks, end, sizes) => {
        const text = blocks.map((lines) => lines.join(end) + end + end).join('')
        const found = await cut(text, sizes)
        assert.equal(Buffer.concat(found).toString(), text)
        const expected = blocks.filter((lines) => lines.some((one) => /^data(?::|$)/.test(one))).length
        assert.equal(found.filter((chunk) => SSE_FRAMES.isEvent(chunk)).length, expected)
      }
    )
    await fc.assert(property, fuzzRuns(100))
  })

  it('are passed on with their blank line, which may be half of a line end', async () => {
    const stuck = Promise.withResolvers<never>()
    async function* body() {
      yield Buffer.from('data: 1\r\n\r')
      await stuck.promise
    }
    const first = await singleEvents(body())[Symbol.asyncIterator]().next()
    assert.equal(Buffer.from(first.value as Uint8Array).toString(), 'data: 1\r\n\r')
  })

  it('are response_too_large if one does not end', async () => {
    async function* body() {
      for (;;) yield new Uint8Array(SSE_EVENT_BYTES_MAX / 4).fill(0x61)
    }
    await assert.rejects(
      async () => {
        for await (const _ of singleEvents(body())) assert.fail()
      },
      new SoukError('response_too_large', 'The API sends an event that is too large.', { source: 'upstream' })
    )
  })

  it('end with one that reports why payment ended', () => {
    const last = Buffer.from(SSE_FRAMES.ended(new SoukError('price_exceeds_limit', 'Enough.'))).toString()
    assert.equal(last, 'event: souk-end\ndata: {"code":"price_exceeds_limit","detail":"Enough."}\n\n')
  })
})
