import assert from 'node:assert/strict'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { limits } from '../../../lib/index.ts'
import { StdioMessages } from '../../../node/mcp/stdio-messages.ts'

const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })
const cancel = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
const response = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} })

describe('messages of an agent on stdin', () => {
  let sent: unknown[]
  let messages: StdioMessages
  beforeEach(() => {
    sent = []
    messages = new StdioMessages((json) => sent.push(JSON.parse(json)))
  })

  async function read(...chunks: ReadonlyArray<string | Uint8Array>): Promise<unknown[]> {
    const all: unknown[] = []
    async function* input() {
      yield* chunks
    }
    for await (const line of messages.read(input())) all.push(JSON.parse(line))
    return all
  }
  const line = (message: unknown) => `${JSON.stringify(message)}\n`

  it('are the lines, however they are cut', async () => {
    const bytes = Buffer.from(line(ping('ü')).replace('\n', '\r\n') + line(ping(2)))
    const cut = Array.from(bytes, (byte) => Uint8Array.of(byte))
    assert.deepEqual(await read(...cut), [ping('ü'), ping(2)])
    assert.deepEqual(await read('\n\n', bytes), [ping('ü'), ping(2)])
    assert.deepEqual(sent, [])
  })

  for (const [what, text, code, id] of [
    ['no JSON', '{nonsense', -32_700, null],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32_700, null],
    ['a text', '"x"', -32_600, null],
    ['null', 'null', -32_600, null],
    ['an empty batch', '[]', -32_600, null],
    ['a batch of nothing', '[1]', -32_600, null],
    ['too long a batch', JSON.stringify(Array.from({ length: 51 }, (_, at) => ping(at))), -32_600, null],
    ['no method', '{"jsonrpc":"2.0","id":7,"method":5}', -32_600, 7],
    ['another version', '{"jsonrpc":"1.0","id":"a","method":"ping"}', -32_600, 'a'],
    ['an id that is none', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600, null]
  ] as const) {
    it(`get an error where the transport would be silent: ${what}`, async () => {
      assert.deepEqual(await read(text, '\n', line(ping(1))), [ping(1)])
      const errors = sent as Array<{ id: unknown; error: { code: number; message: string } }>
      assert.deepEqual(
        errors.map((each) => [each.id, each.error.code]),
        [[id, code]]
      )
      assert.notEqual(errors[0]?.error.message, '')
    })
  }

  it('may be a batch, whose responses are sent together', async () => {
    assert.deepEqual(await read(line([ping(1), ping(2)]), line(ping(3))), [ping(1), ping(2), ping(3)])
    assert.deepEqual([messages.holds(response(2)), sent], [true, []])
    assert.equal(messages.holds(response(3)), false)
    assert.equal(messages.holds(response(1)), true)
    assert.deepEqual(sent, [[response(2), response(1)]])
    assert.equal(messages.holds(response(1)), false)
  })

  it('may cancel a request of an earlier batch, which then waits only for the others', async () => {
    await read(line([ping(1), ping(2)]))
    messages.holds(response(1))
    assert.deepEqual(await read(line(cancel(2))), [cancel(2)])
    assert.deepEqual(sent, [[response(1)]])
  })

  it('are bounded, also without an end of line', async () => {
    const long = 'x'.repeat(limits.MCP_STDIO_BYTES_MAX + 1)
    for (const chunks of [[long], [`${long}\n`], [long.slice(1), 'x']])
      await assert.rejects(read(...chunks), { code: 'request_too_large' })
  })
})
