import assert from 'node:assert/strict'
import { formatApiRef, limits, SoukError } from '../../../lib/index.ts'
import { type Running, startIngress } from '../ingress/harness.ts'
import { signed } from './signed.ts'

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const BOTH = 'application/json, text/event-stream'
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

interface Message {
  readonly id?: unknown
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string }
}

describe('agents of all revisions and with odd messages', () => {
  let ingress: Running
  before(async () => {
    ingress = await startIngress({}, undefined, ['plain'])
    const plain = signed('plain', { operations: [{ name: 'call' }] }, { protocol: 'REST' })
    ingress.onResolve = async (api) => {
      if (!(typeof api === 'string' ? api : formatApiRef(api)).startsWith('plain')) throw new SoukError('api_not_found')
      return { signed: plain, owners: [] }
    }
  })
  after(() => ingress.close())

  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${ingress.url}/mcp?api=plain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-consumer-key': ingress.key, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body)
    })
  /** The messages of a response, as JSON or as a stream. */
  async function messages(response: Response): Promise<Message[]> {
    const text = await response.text()
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    assert.equal(response.headers.get('x-accel-buffering'), isStream ? 'no' : null)
    const all = isStream ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data) : [text]
    return all.flatMap((each) => JSON.parse(each) as Message | Message[])
  }
  async function ask(body: unknown, headers: Record<string, string> = {}): Promise<Message> {
    const [first] = await messages(await post(body, headers))
    return first ?? {}
  }

  for (const revision of REVISIONS) {
    it(`speak ${revision}`, async () => {
      const hello = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
      const response = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello }, { accept: BOTH })
      const session = response.headers.get('mcp-session-id') ?? ''
      assert.match(session, /^[\w-]{22}$/)
      const [{ result = {} } = {}] = await messages(response)
      assert.equal(result['protocolVersion'], revision)
      assert.doesNotMatch(JSON.stringify(result['capabilities']), /"listChanged":true/)
      assert.deepEqual(Object.keys(result['capabilities'] as object).sort(), [
        'completions',
        'prompts',
        'resources',
        'tools'
      ])
      const headers = { accept: BOTH, 'mcp-session-id': session, 'mcp-protocol-version': revision }
      const ready = await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
      assert.deepEqual([ready.status, await ready.text()], [202, ''])
      const listed = await ask(LIST, headers)
      assert.ok(JSON.stringify(listed.result).includes('plain_call'))
      assert.deepEqual(await ask({ jsonrpc: '2.0', id: 'p', method: 'ping' }, headers), {
        jsonrpc: '2.0',
        id: 'p',
        result: {}
      })
    })
  }

  it('get the error code of wrong parameters for an `initialize` without them, with a text for people', async () => {
    for (const [params, text] of [
      [undefined, /^params: /],
      [{}, /^params\.protocolVersion: [^;]+; params\.capabilities: [^;]+; params\.clientInfo: [^;[\]{}]+$/],
      [
        { protocolVersion: 5, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
        /^params\.protocolVersion: /
      ]
    ] as const) {
      const { error } = await ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params }, { accept: BOTH })
      assert.equal(error?.code, -32_602)
      assert.match(error.message, text)
    }
  })

  it('get an error for a mistyped parameter, which would drop a choice or a limit', async () => {
    for (const query of ['apis=plain', 'api=plain&max_price=0.01', 'api=plain&__proto__=1']) {
      const response = await fetch(`${ingress.url}/mcp?${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-consumer-key': ingress.key },
        body: JSON.stringify(LIST)
      })
      const { error } = (await response.json()) as Message
      assert.deepEqual([response.status, error?.code], [400, -32_600])
      assert.match(
        error?.message ?? '',
        /unknown parameter "(apis|max_price|__proto__)"\. It may have: api, operation\./
      )
    }
  })

  it('may not cancel a request of the same batch, which would never get its response', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: LIST.id } }
    const refused = await ask([LIST, cancel], { accept: BOTH })
    assert.equal(refused.error?.message, 'A batch may not cancel a request of its own.')
    const other = { ...cancel, params: { requestId: 'another' } }
    assert.ok((await ask([LIST, other], { accept: BOTH })).result !== undefined)
  })

  it('may accept anything, and get JSON unless they accept a stream', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html']) {
      const response = await post(LIST, { accept })
      assert.match(response.headers.get('content-type') ?? '', /^application\/json/, accept)
      assert.ok(((await response.json()) as Message).result !== undefined)
    }
    const call = { ...LIST, method: 'tools/call', params: { name: 'plain_call', _meta: { progressToken: 1 } } }
    assert.ok((await ask(call, { accept: 'application/json' })).result !== undefined)
  })

  it('may send batches', async () => {
    for (const accept of [BOTH, 'application/json']) {
      const batch = [
        LIST,
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { ...LIST, id: 2, method: 'nothing' }
      ]
      const answers = await messages(await post(batch, { accept }))
      assert.deepEqual(
        new Map(answers.map(({ id, result, error }) => [id, error?.code ?? typeof result])),
        new Map<unknown, unknown>([
          [1, 'object'],
          [2, -32_601]
        ])
      )
    }
  })

  it('count each message of a batch for the public key', async () => {
    const key = ingress.keys.demo?.key ?? assert.fail('no demo key')
    const batch = Array.from({ length: limits.MCP_BATCH_MAX }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
    const statuses: number[] = []
    for (let at = 0; at < 9; at++) statuses.push((await post(batch, { 'x-consumer-key': key })).status)
    assert.equal(statuses.at(-1), 429, statuses.join())
  })

  it('may send only short batches', async () => {
    const batch = Array.from({ length: limits.MCP_BATCH_MAX + 1 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
    const response = await post(batch)
    assert.equal(response.status, 400)
    assert.match(JSON.stringify(await response.json()), /at most 50 messages/)
  })

  it('may ask for each list once in a batch, because the responses are in memory together', async () => {
    const other = { ...LIST, id: 2, method: 'resources/list' }
    assert.equal((await post([LIST, other])).status, 200)
    const response = await post([LIST, other, { ...LIST, id: 3 }])
    assert.equal(response.status, 400)
    assert.match(JSON.stringify(await response.json()), /only one request for tools\/list/)
  })

  it('get a JSON-RPC error for each odd input', async () => {
    const odd: ReadonlyArray<readonly [body: unknown, status: number, code: number]> = [
      ['{', 400, -32_700],
      ['', 400, -32_600],
      ['"text"', 400, -32_600],
      ['null', 400, -32_600],
      ['[]', 400, -32_600],
      ['{}', 400, -32_600],
      [[1], 400, -32_600],
      [Array.from({ length: 101 }, () => LIST), 400, -32_600],
      [{ id: 1, method: 'ping' }, 400, -32_600],
      [{ ...LIST, jsonrpc: '1.0' }, 400, -32_600],
      [{ ...LIST, id: {} }, 400, -32_600],
      [{ ...LIST, method: 5 }, 400, -32_600],
      [{ ...LIST, method: 'nothing/like/this' }, 200, -32_601],
      [{ ...LIST, method: '__proto__' }, 200, -32_601],
      [{ ...LIST, method: 'tools/call', params: { name: 5 } }, 200, -32_602],
      [{ ...LIST, method: 'tools/call' }, 200, -32_602],
      [{ ...LIST, method: 'resources/read', params: {} }, 200, -32_602],
      [{ ...LIST, method: 'prompts/get', params: { name: 'x', arguments: { a: 1 } } }, 200, -32_602],
      [{ ...LIST, method: 'completion/complete', params: { ref: 'x' } }, 200, -32_602],
      [{ ...LIST, method: 'resources/list', params: { cursor: 5 } }, 200, -32_602],
      [{ ...LIST, method: 'initialize', params: {} }, 200, -32_602],
      [{ ...LIST, method: 'logging/setLevel', params: { level: 'info' } }, 200, -32_601]
    ]
    for (const [body, status, code] of odd) {
      const response = await post(body)
      const { error } = (await response.json()) as Message
      assert.deepEqual([response.status, error?.code], [status, code], JSON.stringify(body))
      assert.notEqual(error?.message ?? '', '')
    }
    assert.deepEqual(ingress.log, [])
  })

  it('get a JSON-RPC error for odd headers', async () => {
    const odd: ReadonlyArray<readonly [headers: Record<string, string>, status: number]> = [
      [{ 'content-type': 'text/plain' }, 415],
      [{ 'content-type': 'application/jsonx' }, 415],
      [{ 'mcp-protocol-version': 'nonsense' }, 400],
      [{ 'mcp-protocol-version': '2099-01-01' }, 400],
      [{ 'x-consumer-key': 'nonsense' }, 401],
      [{ origin: 'https://evil.example' }, 403],
      [{ 'mcp-session-id': 'x'.repeat(5_000) }, 200]
    ]
    for (const [headers, status] of odd) {
      const response = await post(LIST, headers)
      const { error, result } = (await response.json()) as Message
      assert.equal(response.status, status, JSON.stringify(headers))
      assert.ok(status === 200 ? result !== undefined : typeof error?.code === 'number')
    }
  })

  it('get 405 for a stream by GET and for the end of a session', async () => {
    for (const method of ['GET', 'DELETE']) {
      const headers = { 'x-consumer-key': ingress.key, accept: 'text/event-stream', 'mcp-session-id': 'x' }
      const response = await fetch(`${ingress.url}/mcp`, { method, headers })
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
      await response.body?.cancel()
    }
  })
})
