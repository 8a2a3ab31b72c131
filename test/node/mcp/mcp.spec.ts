import assert from 'node:assert/strict'
import { formatApiRef, SoukError } from '../../../lib/index.ts'
import type { ApiDescription, JsonSchema, SignedManifest } from '../../../lib/interface/index.ts'
import { answer, eventually, PROVIDER, type Running, startIngress } from '../ingress/harness.ts'
import { type AgentClient, CLIENTS, connectCurrent } from './clients.ts'
import { signed } from './signed.ts'

const MARKET = [
  'souk_search',
  'souk_show',
  'souk_call',
  'souk_subscribe',
  'souk_subscriptions',
  'souk_change_subscription',
  'souk_balance'
]

const BALANCE: ApiDescription = {
  operations: [
    {
      name: 'getBalance',
      description: 'Tells a balance.',
      input: { type: 'object', properties: { accountId: { type: 'string' } }, required: ['accountId'] },
      output: {
        type: 'object',
        properties: { balance: { $ref: '#/$defs/Amount' } },
        required: ['balance'],
        $defs: { Amount: { type: 'string', pattern: '^(a+)+$' } }
      }
    },
    { name: 'close' }
  ]
}
const USERS: ApiDescription = { operations: [{ name: 'users' }], sdl: 'type Query { users(first: Int!): [String!] }' }

describe('agents over HTTP', () => {
  let ingress: Running
  let known: SignedManifest[]
  let agents: AgentClient[]
  beforeEach(async () => {
    ingress = await startIngress({ corsOrigins: ['https://app.example'] })
    known = [
      signed('bank', BALANCE, { idempotent: true }),
      signed('users', USERS, { protocol: 'GraphQL', price: 0n }),
      signed('plain', { operations: [{ name: 'call' }] }, { protocol: 'REST' })
    ]
    ingress.onResolve = (api) => {
      const ref = typeof api === 'string' ? api : formatApiRef(api)
      const found = known.find(({ id, manifest }) => id === ref || manifest.name === ref)
      return found === undefined
        ? Promise.reject(new SoukError('api_not_found'))
        : Promise.resolve({ signed: found, owners: [] })
    }
    ingress.onSearch = () =>
      Promise.resolve({
        listings: known.map((each) => ({ ...each, firstSeenAt: 0, matching: [], quality: { score: 0.8, calls: 0 } }))
      })
    agents = []
  })
  afterEach(async () => {
    await Promise.all(agents.map((agent) => agent.close()))
    await ingress.close()
  })

  const url = (...apis: string[]) => `${ingress.url}/mcp?${apis.map((api) => `api=${api}`).join('&')}`
  async function connect(open = connectCurrent, apis: string[] = [], headers: Record<string, string> = {}) {
    const agent = await open({ url: url(...apis), headers: { 'x-consumer-key': ingress.key, ...headers } })
    agents.push(agent)
    return agent
  }
  const sells = (price: bigint, body: unknown = { balance: '7.10' }) => {
    ingress.onCall = async ({ onPrice }) => {
      await onPrice?.(price)
      return answer({ price, charged: price, body: Buffer.from(JSON.stringify(body)) })
    }
  }
  const problemIn = ({ content }: Awaited<ReturnType<AgentClient['call']>>) =>
    JSON.parse(String(content[0]?.['text'])) as Record<string, unknown>

  for (const [revision, open] of CLIENTS) {
    describe(`by ${revision}`, () => {
      it('see the marketplace and each operation of their chosen APIs as tools', async () => {
        const agent = await connect(open, ['bank', `users@${PROVIDER}`, 'plain', 'nowhere'])
        assert.equal(agent.version, revision)
        const tools = await agent.tools()
        assert.deepEqual(
          tools.map(({ name }) => name),
          [...MARKET, 'bank_getBalance', 'bank_close', 'users_query', 'plain_call']
        )
        const balance = tools.find(({ name }) => name === 'bank_getBalance')
        assert.match(balance?.description ?? '', /Tells a balance\.\n\nCosts 0\.0015 USDC\. Failed calls are free/)
        assert.deepEqual(balance?.inputSchema['required'], ['accountId'])
        assert.deepEqual(balance?.outputSchema, {
          type: 'object',
          properties: { balance: { type: ['string', 'null'] } }
        })
        assert.deepEqual(balance?.annotations, { openWorldHint: true, idempotentHint: true })
        const users = tools.find(({ name }) => name === 'users_query')
        assert.match(users?.description ?? '', /query users\(first: Int!\): \[String!\]/)
        assert.match(users?.description ?? '', /Free of charge/)
      })

      it('choose operations by name or pattern', async () => {
        const names = async (...operations: string[]) => {
          const query = operations.map((each) => `&operation=${encodeURIComponent(each)}`).join('')
          const agent = await connect(open, ['bank', `users${query}`])
          return (await agent.tools()).map(({ name }) => name).slice(MARKET.length)
        }
        assert.deepEqual(await names('GET*'), ['bank_getBalance', 'users_query'])
        assert.deepEqual(await names('close', 'nothing'), ['bank_close', 'users_query'])
        assert.deepEqual(await names('*'), ['bank_getBalance', 'bank_close', 'users_query'])
        const nothing = await connect(open, ['bank&operation=typo*'])
        await assert.rejects(nothing.tools(), /No operation of these APIs matches/)
        await assert.rejects(connect(open, [`bank${'&operation=x'.repeat(65)}`]))
      })

      it('call an operation by its tool, and get its cost', async () => {
        sells(1_500n)
        const agent = await connect(open, ['bank'])
        await agent.tools()
        const result = await agent.call('bank_getBalance', { accountId: 'A', operation: 'close' })
        assert.deepEqual(result.structuredContent, { balance: '7.10' })
        assert.equal(result.content[0]?.['text'], '{"balance":"7.10"}')
        assert.equal(result.meta['charged'], '0.0015')
        assert.equal(typeof result.meta['ms'], 'number')
        const [call] = ingress.calls
        assert.deepEqual(
          call?.body,
          { accountId: 'A', operation: 'getBalance' },
          'arguments cannot select another operation'
        )
        assert.equal(call?.maxPrice, '0.05', 'the key’s maximum price applies')
      })

      it('search, inspect and call any API, up to their maximum price', async () => {
        sells(1_500n)
        const agent = await connect(open)
        const found = (await agent.call('souk_search', { query: 'bank' })).structuredContent as {
          apis: Array<Record<string, unknown>>
        }
        assert.deepEqual([found.apis[0]?.['id'], found.apis[0]?.['price']], [`bank@${PROVIDER}`, '0.0015'])
        assert.partialDeepStrictEqual(found.apis[0], { quality: { score: 0.8 } })
        const shown = (await agent.call('souk_show', { api: 'bank', operation: 'getBalance' })).structuredContent
        assert.deepEqual((shown as ApiDescription).operations, [BALANCE.operations[0]])
        const called = await agent.call('souk_call', {
          api: 'bank',
          operation: 'getBalance',
          arguments: { accountId: 'A' },
          max_price: '0.002',
          idempotency_key: 'once'
        })
        assert.deepEqual(called.structuredContent, { balance: '7.10' })
        const [call] = ingress.calls
        assert.deepEqual([call?.maxPrice, call?.idempotencyKey], ['0.002', 'once'])
        assert.deepEqual(call?.body, { accountId: 'A', operation: 'getBalance' })
      })

      it('cannot exceed the daily cap of their key', async () => {
        sells(4_000n)
        const { key } = await ingress.keys.issue({ maxPrice: 50_000n, dailyCap: 10_000n })
        const agent = await connect(open, ['bank'], { 'x-consumer-key': key })
        assert.equal((await agent.call('bank_close')).isError, undefined)
        const left = (await agent.call('souk_balance')).structuredContent as Record<string, unknown>
        assert.deepEqual([left['left_today'], left['daily_cap'], left['max_price']], ['0.006', '0.01', '0.05'])
        await agent.call('bank_close')
        const refused = await agent.call('bank_close')
        assert.equal(refused.isError, true)
        const { code, charged, what_to_do } = problemIn(refused)
        assert.deepEqual([code, charged], ['spend_cap_reached', false])
        assert.match(String(what_to_do), /^Until resets_at/)
      })

      it('get rejections and faults as results with a hint', async () => {
        const agent = await connect(open, ['bank'])
        const unknown = await agent.call('bank_getbalance')
        assert.deepEqual([unknown.isError, problemIn(unknown)['code']], [true, 'operation_not_found'])
        const lacking = await agent.call('souk_call', { api: 'bank' })
        assert.equal(problemIn(lacking)['detail'], 'max_price is missing')
        const several = await agent.call('souk_call', { api: 5 })
        assert.match(String(problemIn(several)['detail']), /^api: .*; max_price is missing$/)
        ingress.onCall = () =>
          answer({ body: Buffer.from('{"errors":[{"message":"No field \\"nme\\"."}]}'), charged: 0n })
        const asked = { api: 'users', max_price: '0', arguments: { query: '{ nme }' } }
        const wrong = await agent.call('souk_call', asked)
        assert.equal(wrong.isError, true)
        assert.match(JSON.stringify(wrong.content), /Correct the query[^]*No field/)
        ingress.onCall = () => answer({ body: Buffer.from('{"errors":[{"message":"Half."}],"data":{"a":1}}') })
        assert.equal((await agent.call('souk_call', asked)).isError, undefined)
        ingress.onCall = () => Promise.reject(new SoukError('soap_fault', 'No such account.', { status: 400 }))
        const fault = await agent.call('bank_getBalance', { accountId: 'B' })
        assert.deepEqual([fault.isError, problemIn(fault)['detail']], [true, 'No such account.'])
        for (const lost of [
          new SoukError('call_interrupted'),
          new SoukError('upstream_timeout', 'Late.', { isChargeUnknown: true })
        ]) {
          ingress.onCall = () => Promise.reject(lost)
          const { what_to_do } = problemIn(await agent.call('bank_getBalance', { accountId: 'B' }))
          assert.match(String(what_to_do), /may run and cost again/)
        }
        ingress.onCall = () => answer({ status: 404, charged: 0n, body: Buffer.from('{"no":1}') })
        const refused = await agent.call('bank_close')
        assert.equal(refused.isError, true)
        assert.match(String(refused.content[0]?.['text']), /status 404; 0 USDC/)
        assert.equal(refused.content[1]?.['text'], '{"no":1}')
      })

      it('get a response that violates its schema as an error, with the content', async () => {
        sells(1_500n, { balance: 7 })
        const agent = await connect(open, ['bank'])
        await agent.tools()
        const result = await agent.call('bank_getBalance', { accountId: 'A' })
        assert.equal(result.isError, true)
        assert.match(String(result.content[0]?.['text']), /0\.0015 USDC were charged/)
        assert.equal(result.content[1]?.['text'], '{"balance":7}')
      })
    })
  }

  it('that cancel a call cancel it at the provider', async () => {
    let isGivenUp = false
    ingress.onCall = ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          isGivenUp = true
          reject(new SoukError('call_interrupted'))
        })
      })
    const agent = await connect(connectCurrent, ['bank'])
    const end = new AbortController()
    const called = agent.call('bank_close', {}, { signal: end.signal })
    await eventually(() => ingress.calls.length === 1)
    end.abort()
    await assert.rejects(called)
    await eventually(() => isGivenUp)
  })

  it('can set call options in the metadata', async () => {
    const agent = await connect(connectCurrent, ['bank'])
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    const meta = { 'dev.souk/max_price': '0.004', 'dev.souk/idempotency_key': 'k', traceparent }
    await agent.call('bank_close', {}, { meta })
    const [call] = ingress.calls
    assert.deepEqual([call?.maxPrice, call?.idempotencyKey, call?.traceparent], ['0.004', 'k', traceparent])
  })

  it('get images and audio as such, other bytes as a resource, and long texts truncated', async () => {
    const agent = await connect(connectCurrent, ['plain'])
    const typed = (type: string, body: Uint8Array) => {
      ingress.onCall = () => answer({ headers: [['content-type', type]], body })
      return agent.call('plain_call', { a: 1 })
    }
    const [picture] = (await typed('image/png', Buffer.from([1, 2]))).content
    assert.deepEqual(picture, { type: 'image', data: 'AQI=', mimeType: 'image/png' })
    const [file] = (await typed('application/pdf', Buffer.from([3]))).content
    assert.partialDeepStrictEqual(file, { type: 'resource', resource: { blob: 'Aw==', mimeType: 'application/pdf' } })
    const long = await typed('text/plain', Buffer.alloc(300 * 1024, 'a'))
    assert.equal(String(long.content[0]?.['text']).length, 256 * 1024)
    assert.match(String(long.content[1]?.['text']), /Cut off: this is the first 262144 of 307200 bytes/)
    const large = await typed('image/png', Buffer.alloc(300 * 1024))
    assert.match(String(large.content[0]?.['text']), /too much for a result of a tool/)
    assert.deepEqual(ingress.calls[0]?.body, { a: 1 }, 'an API without a description gets the body unchanged')
  })

  it('get too deeply nested JSON as its original text', async () => {
    const agent = await connect(connectCurrent, ['plain', 'bank'])
    const deep = `${'['.repeat(10_000)}1${']'.repeat(10_000)}`
    ingress.onCall = () => answer({ body: Buffer.from(deep) })
    const given = await agent.call('plain_call', { a: 1 })
    assert.deepEqual([given.isError ?? false, given.content[0]?.['text']], [false, deep])
    const promised = await agent.call('bank_getBalance', { accountId: '1' })
    assert.deepEqual([promised.isError, promised.content[1]?.['text']], [true, deep])
  })

  it('get the beginning of a stream, and the rest is cancelled', async () => {
    let isEnded = false
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(64 * 1024, 'b')
      } finally {
        isEnded = true
      }
    }
    ingress.onCall = () => answer({ headers: [['content-type', 'text/event-stream']], body: endless() })
    const result = await (await connect(connectCurrent, ['plain'])).call('plain_call')
    assert.match(String(result.content[1]?.['text']), /Cut off/)
    assert.ok(isEnded)
  })

  describe('without authentication', () => {
    const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const post = (headers: Record<string, string>, body: unknown = rpc) =>
      fetch(url(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body)
      })
    const codeOf = async (response: Response) => ((await response.json()) as { code?: string }).code

    it('get 401 with the way to authenticate', async () => {
      for (const headers of [{}, { 'x-consumer-key': '' }, { authorization: 'Basic eDp5' }] as const) {
        const response = await post(headers)
        assert.equal(response.status, 401)
        assert.match(response.headers.get('www-authenticate') ?? '', /Bearer realm="souk"/)
        assert.equal(await codeOf(response), 'key_missing')
      }
      const wrong = await post({ authorization: 'Bearer souk_test_nonsense' })
      assert.deepEqual([wrong.status, await codeOf(wrong)], [401, 'key_invalid'])
      const revoked = await ingress.keys.issue()
      await ingress.keys.revoke(revoked.id)
      assert.equal(await codeOf(await post({ authorization: `Bearer ${revoked.key}` })), 'key_revoked')
      assert.equal((await post({ authorization: `Bearer ${ingress.key}` })).status, 200)
    })

    it('are rejected as pages of other origins', async () => {
      const key = { 'x-consumer-key': ingress.key }
      for (const origin of ['https://evil.example', 'null', ingress.url]) {
        assert.equal(await codeOf(await post({ ...key, origin })), 'ingress_not_allowed')
      }
      assert.equal((await post({ ...key, origin: 'https://app.example' })).status, 200)
    })

    it('get an error for invalid messages', async () => {
      const key = { 'x-consumer-key': ingress.key }
      assert.equal((await post(key, '{')).status, 400)
      assert.equal((await post(key, '[]')).status, 400)
      assert.equal((await post(key, `{"a":${'['.repeat(100)}${']'.repeat(100)}}`)).status, 400)
      assert.equal((await post({ ...key, 'content-type': 'text/plain' })).status, 415)
      assert.equal((await post(key, `{"a":"${'a'.repeat(1_200_000)}"}`)).status, 413)
      const deleted = await fetch(url(), { method: 'DELETE', headers: key })
      assert.deepEqual([deleted.status, deleted.headers.get('allow')], [405, 'POST'])
      assert.equal((await post(key, { ...rpc, method: 'nothing/like/this' })).status < 500, true)
      const many = Array.from({ length: 40 }, (_, i) => `api=a${i}`).join('&')
      const response = await fetch(`${ingress.url}/mcp?${many}`, { method: 'POST', headers: key, body: '{}' })
      assert.equal(response.status, 400)
      assert.deepEqual(ingress.calls, [])
    })
  })

  describe('with listings of hostile providers', () => {
    const shown = async (input: JsonSchema, output: JsonSchema = {}) => {
      known = [signed('bad', { operations: [{ name: 'x', input, output }] }), signed('bank', BALANCE)]
      const lists: AgentClient[] = []
      for (const [, open] of CLIENTS) lists.push(await connect(open, ['bad', 'bank']))
      const [tools = []] = await Promise.all(lists.map((agent) => agent.tools()))
      assert.ok(
        tools.some(({ name }) => name === 'bank_getBalance'),
        'the others are not lost'
      )
      return tools.find(({ name }) => name === 'bad_x')
    }

    it('see unsupported schemas in a simplified form', async () => {
      const tool = await shown(
        {
          type: 'array',
          properties: { a: true, $id: { type: 'string', 'x-mcp-header': 'Authorization' } },
          required: [1]
        },
        {
          type: 'object',
          $id: 'same',
          allOf: [{ $ref: 'https://evil.example/x' }],
          properties: { a: { $ref: '#/$defs/a' } },
          $defs: { a: { $ref: '#/$defs/a' } }
        }
      )
      const [renamed = ''] = Object.keys(tool?.inputSchema['properties'] ?? {}).filter((name) => name !== 'a')
      assert.match(renamed, /^_id_[0-9a-f]{8}$/)
      const properties = { a: {}, [renamed]: { type: 'string', description: '$id.' } }
      assert.deepEqual(tool?.inputSchema, { type: 'object', properties })
      assert.deepEqual(tool?.outputSchema, { type: 'object', properties: { a: {} } })
    })

    it('see no schema that is too large or expands exponentially', async () => {
      const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`property${i}`, { type: 'string' }]))
      const tool = await shown(
        { type: 'object', properties: wide },
        {
          type: 'object',
          properties: { a: { $ref: '#/$defs/d0' } },
          $defs: Object.fromEntries(
            Array.from({ length: 60 }, (_, i) => [
              `d${i}`,
              { type: 'object', properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } } }
            ])
          )
        }
      )
      assert.deepEqual(tool?.inputSchema, { type: 'object' })
      assert.match(tool?.description ?? '', /Use souk_show/)
      assert.ok(JSON.stringify(tool?.outputSchema ?? {}).length < 64 * 1024)
    })

    it('see tool names that are unique, short and stable', async () => {
      const other = `12D3KooW${'A'.repeat(44)}`
      known = [
        signed('souk', {
          operations: [{ name: 'search' }, { name: 'a b' }, { name: 'a_b' }, { name: 'ä'.repeat(90) }]
        }),
        signed('souk', { operations: [{ name: 'a_b' }] }, { provider: other }),
        signed(`long${'g'.repeat(58)}`, { operations: [{ name: 'x' }] })
      ]
      const agent = await connect(
        connectCurrent,
        known.map(({ id }) => id)
      )
      const names = (await agent.tools()).map(({ name }) => name)
      assert.equal(new Set(names).size, names.length)
      for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
      assert.deepEqual(
        (await agent.tools()).map(({ name }) => name),
        names
      )
      sells(0n)
      for (const name of names.slice(MARKET.length)) assert.equal((await agent.call(name)).isError, undefined, name)
      assert.deepEqual(
        ingress.calls.map(({ body }) => (body as { operation: string }).operation),
        ['search', 'a b', 'a_b', 'ä'.repeat(90), 'a_b', 'x']
      )
    })

    it('see a limited number of tools', async () => {
      known = Array.from({ length: 10 }, (_, i) =>
        signed(`api${i}`, { operations: Array.from({ length: 500 }, (__, j) => ({ name: `op${j}` })) })
      )
      const agent = await connect(
        connectCurrent,
        known.map(({ manifest }) => manifest.name)
      )
      const tools = await agent.tools()
      assert.equal(tools.length, MARKET.length + 1_020)
      for (const { manifest } of known) {
        assert.equal(tools.filter(({ name }) => name.startsWith(`${manifest.name}_`)).length, 102)
      }
    })

    it('see that an API requires a subscription', async () => {
      const plan = { id: 'pro', name: 'Pro', fee: 0n, period: 'month', trialDays: 0, overage: [], since: 0 } as const
      known = [signed('club', { operations: [{ name: 'x' }] }, { payPerCall: false, plans: [plan] })]
      const agent = await connect(connectCurrent, ['club'])
      const [tool] = (await agent.tools()).slice(MARKET.length)
      assert.match(tool?.description ?? '', /Requires a subscription/)
      const shown = (await agent.call('souk_show', { api: 'club' })).structuredContent as Record<string, unknown>
      assert.equal(shown['pay_per_call'], false)
      assert.partialDeepStrictEqual(shown['plans'], [{ id: 'pro', fee: '0', included: null }])
    })

    it('see texts without control characters', async () => {
      known = [signed('bad', { operations: [{ name: 'x', description: 'a\u001B[2Jb\u202Ec\nd' }] })]
      const [tool] = (await (await connect(connectCurrent, ['bad'])).tools()).slice(MARKET.length)
      assert.match(tool?.description ?? '', /^a\[2Jbc\nd\n\n/)
    })
  })
})
