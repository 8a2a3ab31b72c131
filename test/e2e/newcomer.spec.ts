import assert from 'node:assert/strict'
import { limits, type Problem } from '../../lib/index.ts'
import type { ApiView, CallHead, RegisteredView } from '../../node/admin/api.ts'
import type { SearchView } from '../../node/admin/market/market-api.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Answered, post, type PostInit } from '../helpers/ingress-client.ts'
import { deadUrl, type ScriptedUpstream, scriptedUpstream } from '../helpers/scripted-upstream.ts'
import type { CommandRun } from '../helpers/souk-process.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

interface ApisView {
  readonly apis: readonly ApiView[]
}
type Called = CallHead & { readonly body: unknown }

/** The first steps of a new user: two nodes, an API, the command line and an HTTP client. */
describe('a marketplace of two nodes, by command line and HTTP', () => {
  let home: SoukHome
  let owner: HomeNode
  let consumer: HomeNode
  let api: ScriptedUpstream
  let key: string
  let keyId: string

  before(async () => {
    home = await soukHome()
    // An ordinary API without Souk code: adds two numbers.
    api = await scriptedUpstream((response, { body }) => {
      // The check at registration sends no body.
      const { a, b } = JSON.parse(body.toString() || '{}') as { a: number; b: number }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ sum: a + b }))
    })
    owner = await home.up('owner', '--no-ingress')
    consumer = await home.up('consumer', '--bootstrap', ...owner.p2p)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await api.close()
  })

  const call = (init: PostInit = {}, name = 'adder') =>
    post(consumer.ingress, name, { key, body: { a: 1, b: 2 }, ...init })

  describe('opens', () => {
    it('publishes an API with the documented options', async () => {
      const { api: view, updated } = await owner.cli<RegisteredView>(
        `api register --name adder --protocol REST --endpoint ${api.url}/add --price 0.001 --currency USDC`
      )
      assert.equal(updated, false)
      assert.equal(view.id, `adder@${owner.peer}`)
      assert.equal(view.state, 'published')
      assert.equal(view.price, '0.001')
      assert.deepEqual([(await owner.cli<ApisView>('api list')).apis.length, view.problem], [1, null])
    })

    it('finds the API from the other node, by command line and over HTTP', async () => {
      const { listings } = await consumer.cli<SearchView>('search adder')
      assert.deepEqual(
        listings.map(({ id, price, state }) => ({ id, price, state })),
        [{ id: `adder@${owner.peer}`, price: '0.001', state: 'published' }]
      )
      const found = (await (await fetch(`${consumer.ingress}/v1/apis?q=adder`)).json()) as {
        data: Array<{ id: string }>
      }
      assert.deepEqual(
        found.data.map(({ id }) => id),
        [`adder@${owner.peer}`]
      )
    })

    it('serves a call with a key, and reports its timing and cost', async () => {
      ;({ key, id: keyId } = await consumer.cli<IssuedKeyView>('key issue --label newcomer'))
      const answered = await call()
      assert.equal(answered.status, 200)
      assert.deepEqual(answered.json, { sum: 3 })
      assert.match(answered.headers.get('content-type') ?? '', /^application\/json/)
      const timing = answered.headers.get('server-timing') ?? ''
      for (const part of ['ingress', 'lookup', 'net', 'owner', 'upstream']) {
        assert.match(timing, new RegExp(`\\b${part};dur=\\d+(\\.\\d+)?(,|$)`), timing)
      }
      assert.match(answered.headers.get('x-request-id') ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
      // With the metered scheme the price is reported, but no money moves.
      assert.equal(answered.headers.get('souk-price'), '0.001')
      assert.equal(answered.headers.get('souk-charged'), '0')
      assert.equal(answered.headers.get('souk-owner'), owner.peer)
    })

    it('does not forward the consumer key to the API', () => {
      assert.equal(api.received.length > 0, true)
      for (const { headers } of api.received) assert.equal(JSON.stringify(headers).includes(key), false)
    })

    it('serves calls by command line, by full id, and from its own node', async () => {
      const reply = await consumer.cli<Called>('call adder', '{"a":20,"b":22}')
      assert.deepEqual([reply.status, reply.body], [200, { sum: 42 }])
      assert.equal((await call({}, `adder@${owner.peer}`)).status, 200)
      assert.deepEqual((await owner.cli<Called>('call adder', '{"a":2,"b":2}')).body, { sum: 4 })
    })

    it('counts every call in the books of the owner', async () => {
      const { calls, metered, charged, reach } = await owner.cli<ApiView>('api show adder')
      assert.match(reach, /^reachable /)
      assert.deepEqual(calls, { captured: 4, voided: 0 })
      assert.deepEqual({ metered, charged }, { metered: '0.004', charged: '0' })
    })
  })

  describe('refuses', () => {
    const refusals: Array<[string, number, string, () => Promise<Answered>]> = [
      ['a missing key', 401, 'key_missing', () => post(consumer.ingress, 'adder')],
      ['a wrong key', 401, 'key_invalid', () => call({ key: 'souk_test_wrong' })],
      ['a key with another last character', 401, 'key_invalid', () => call({ key: withOtherEnd(key) })],
      [
        'another content type',
        415,
        'unsupported_media_type',
        () => call({ headers: { 'content-type': 'text/plain' } })
      ],
      ['a body that is not JSON', 400, 'invalid_request', () => call({ body: '{"a":1,' })],
      ['a body that is not an object', 400, 'invalid_request', () => call({ body: '[1,2]' })],
      ['an empty body', 400, 'invalid_request', () => call({ body: '' })],
      [
        'a JSON bomb',
        400,
        'invalid_request',
        () => call({ body: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` })
      ],
      ['an API that does not exist', 404, 'api_not_found', () => call({}, 'no-such-api')],
      ['a name that is none', 400, 'invalid_request', () => call({}, 'No_Such_API!')],
      ['a provider who does not exist', 404, 'api_not_found', () => call({}, `adder@${consumer.peer}`)],
      [
        'a body over the limit of the listing',
        413,
        'request_too_large',
        () => call({ body: { a: 'x'.repeat(limits.REQUEST_BYTES_MAX) } })
      ],
      [
        'a body over the limit of the ingress',
        413,
        'request_too_large',
        () => call({ body: new Uint8Array(limits.REQUEST_BYTES_CEILING + 1) })
      ],
      [
        'a price above the consumer’s limit',
        402,
        'price_exceeds_limit',
        () => call({ headers: { 'souk-max-price': '0.0009' } })
      ],
      ['another method', 405, 'method_not_allowed', () => fetched('PUT')]
    ]

    for (const [what, status, code, ask] of refusals) {
      it(what, async () => {
        const reached = api.received.length
        const answered = await ask()
        assertProblem(answered, status, code)
        assert.equal(api.received.length, reached, 'it reached the API')
      })
    }

    async function fetched(method: string): Promise<Answered> {
      const response = await fetch(`${consumer.ingress}/api/demo/api/adder`, {
        method,
        headers: { 'content-type': 'application/json', 'x-consumer-key': key },
        body: '{}'
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, json: JSON.parse(text), ms: 0 }
    }
  })

  describe('changes', () => {
    it('stays usable after the refused requests', async () => {
      assert.equal((await call()).status, 200)
    })

    it('rejects an endpoint that does not work, with the reason', async () => {
      const register = (endpoint: string) =>
        home.run(
          `--profile owner --json api register --name broken --protocol GraphQL --price 0.001 --endpoint ${endpoint}`
        )
      const dead = await register(await deadUrl())
      assert.equal(dead.code, 1)
      assert.equal(codeOf(dead), 'upstream_unreachable')
      const other = await register(api.url)
      assert.equal(other.code, 1)
      assert.ok(['invalid_request', 'upstream_invalid_response'].includes(codeOf(other)))
      assert.equal((await owner.cli<ApisView>('api list')).apis.length, 1)
    })

    it('pauses and resumes the API', async () => {
      await owner.cli('api pause adder')
      const paused = await call()
      assertProblem(paused, 503, 'api_paused')
      await owner.cli('api resume adder')
      assert.equal((await call()).status, 200)
    })

    it('changes price and endpoint by registering again', async () => {
      const { updated, api: view } = await owner.cli<RegisteredView>(
        `api register --name adder --protocol REST --endpoint ${api.url}/v2 --price 0.025 --currency USDC --replace`
      )
      assert.deepEqual([updated, view.price], [true, '0.025'])
      const answered = await call()
      assert.equal(answered.status, 200)
      assert.equal(api.received.at(-1)?.target, '/v2')
      // The consumer may cache the old manifest for a while, but never pays more than the reported price.
      assert.ok(['0.001', '0.025'].includes(answered.headers.get('souk-price') ?? ''))
    })

    it('stops serving the API soon after its removal', async () => {
      await owner.cli('api rm adder --yes')
      const gone = await eventually('a removed API to be gone', 10_000, async () => {
        const answered = await call()
        assert.notEqual(answered.status, 200)
        return answered.status === 404 || answered.status === 410 ? answered : undefined
      })
      assertProblem(gone, 404, 'api_not_found')
      await eventually('a removed API not to be listed', 10_000, async () => {
        const { listings } = await consumer.cli<SearchView>('search adder')
        return listings.length === 0 ? true : undefined
      })
    })

    it('refuses a revoked key at the next call', async () => {
      await consumer.cli(`key revoke ${keyId} --yes`)
      assertProblem(await call(), 401, 'key_revoked')
    })
  })
})

function assertProblem(answered: Answered, status: number, code: string): void {
  const { headers, text } = answered
  const json = answered.json as Problem
  assert.deepEqual([answered.status, json?.code], [status, code], text)
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.equal(json.status, status)
  assert.equal(json.type, `https://souk.dev/problems/${code}`)
  assert.deepEqual([json.charged, json.amount_charged], [false, '0'])
  assert.equal(json.request_id, headers.get('x-request-id'))
  assert.doesNotMatch(text, /node_modules|\.ts:|\bat [\w.]+ \(/, 'a stack trace')
}

function codeOf({ stderr }: CommandRun): string {
  return (JSON.parse(stderr) as { error: { code: string } }).error.code
}

function withOtherEnd(key: string): string {
  return key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
}
