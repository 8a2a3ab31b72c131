import assert from 'node:assert/strict'
import { buildSchema } from 'graphql'
import { serverAudits } from 'graphql-http'
import { handler } from '../../../../lib/index.ts'
import { graphqlFactory } from '../../../../protocols/index.ts'
import { type OverlayBench, overlayBench } from '../../../helpers/overlay-bench.ts'
import { type YogaServer, yogaServer } from '../../../helpers/yoga.ts'

const FOREVER = new AbortController().signal

/** A real GraphQL server and client, with ingress, overlay and owner between them. */
describe('GraphQL over HTTP, through Souk', () => {
  let bench: OverlayBench
  let yoga: YogaServer
  let url: string
  let renamed = 0

  before(async () => {
    bench = await overlayBench()
    yoga = await yogaServer({
      typeDefs: `
        type Query { hello: String, broken: String }
        type Mutation { rename(name: String!): String }
        scalar File
        extend type Mutation { read(files: [File!]!, note: String): [String] }
      `,
      resolvers: {
        Query: {
          hello: () => 'world',
          broken() {
            throw new Error('out of order')
          }
        },
        Mutation: {
          rename(_parent, { name }) {
            renamed++
            return name
          },
          read: (_parent, { files }) =>
            Promise.all((files as unknown as File[]).map(async (file) => `${file.name}: ${await file.text()}`))
        }
      }
    })
    const config = { endpoint: yoga.url }
    const { snapshot } = await graphqlFactory.inspect(config, FOREVER)
    await bench.owner.serve({ name: 'users', price: '0.001' }, graphqlFactory.open(config, snapshot))
    url = `${bench.url}/api/demo/api/users`
  })
  after(async () => {
    await bench.close()
    await yoga.close()
  })

  const post = (body: unknown, headers: Record<string, string> = {}) =>
    bench.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body)
    })

  const audits = serverAudits({
    url: () => url,
    fetchFn: (input: string, init: RequestInit) => bench.fetch(input, init)
  })
  it('is audited in 61 points', () => assert.equal(audits.length, 61))
  for (const { id, name, fn } of audits) {
    it(`${id} ${name}`, async () => {
      const result = await fn()
      assert.equal(result.status, 'ok', 'reason' in result ? result.reason : '')
    })
  }

  it('forwards partial data with its errors', async () => {
    const response = await post({ query: '{ hello broken }' })
    const { data, errors } = (await response.json()) as { data: unknown; errors: Array<{ path: unknown }> }
    assert.deepEqual([response.status, data], [200, { hello: 'world', broken: null }])
    assert.deepEqual(
      errors.map(({ path }) => path),
      [['broken']]
    )
  })

  it('says who refused a request', async () => {
    const accept = 'application/graphql-response+json'
    const refused = await post({ query: '{ nothing }' }, { accept })
    assert.deepEqual([refused.status, refused.headers.get('souk-error-source')], [400, 'owner'])
  })

  it('returns Souk’s own errors as problem documents for any Accept header', async () => {
    const accept = 'application/graphql-response+json'
    const response = await post({ query: '{ hello }' }, { accept, 'souk-max-price': '0.0001' })
    assert.equal(response.headers.get('content-type'), 'application/problem+json')
    assert.equal(((await response.json()) as { code: string }).code, 'price_exceeds_limit')
    const elsewhere = await bench.fetch(`${url}/admin?query={hello}`, { headers: { accept } })
    assert.deepEqual([elsewhere.status, elsewhere.headers.get('content-type')], [405, 'application/problem+json'])
  })

  it('publishes the schema in SDL', async () => {
    const response = await fetch(`${bench.url}/v1/apis/users/schema.graphql`)
    assert.equal(response.headers.get('content-type'), 'application/graphql; charset=utf-8')
    assert.deepEqual(
      Object.keys(
        buildSchema(await response.text())
          .getQueryType()
          ?.getFields() ?? {}
      ),
      ['hello', 'broken']
    )
    await bench.owner.serve(
      { name: 'plain', price: '0' },
      handler(() => 1)
    )
    const none = await fetch(`${bench.url}/v1/apis/plain/schema.graphql`)
    assert.deepEqual([none.status, ((await none.json()) as { code: string }).code], [404, 'api_not_found'])
    assert.equal((await fetch(`${bench.url}/v1/apis/users/schema.graphql`, { method: 'POST' })).status, 405)
  })

  it('runs each operation of a batch as a call of its own', async () => {
    const big = '{"query": "mutation ($n: String!) { rename(name: $n) }", "variables": {"n": "a\\"],["}}'
    const body = `[{"query":"{ hello }"}, ${big}, {"query":"{ nothing }"},{"query":"mutation { rename(name: \\"x\\") }"}, 7]`
    const response = await bench.fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    assert.equal(response.status, 200)
    const results = (await response.json()) as Array<{ data?: unknown; errors?: Array<{ message: string }> }>
    assert.deepEqual(
      results.map(({ data }) => data),
      [{ hello: 'world' }, { rename: 'a"],[' }, undefined, { rename: 'x' }, undefined]
    )
    assert.match(results[2]?.errors?.[0]?.message ?? '', /Cannot query field/)
    assert.match(results[4]?.errors?.[0]?.message ?? '', /JSON object/)
  })

  it('repeats no operation of a batch that comes again', async () => {
    const batch = [{ query: 'mutation { rename(name: "a") }' }, { query: 'mutation { rename(name: "b") }' }]
    const again = () => post(batch, { 'idempotency-key': 'batch-1' })
    const before = renamed
    const first = await (await again()).json()
    assert.deepEqual(await (await again()).json(), first)
    assert.equal(renamed - before, 2)
  })

  it('refuses a batch that is empty or too long, and arrays for other APIs', async () => {
    assert.equal((await post([])).status, 400)
    assert.equal((await post(Array.from({ length: 51 }, () => ({ query: '{ hello }' })))).status, 400)
    assert.equal((await post([{ query: '{ hello }' }], { 'idempotency-key': 'x'.repeat(255) })).status, 400)
    const failing = (await (await post([{ query: '{ hello }' }], { 'souk-max-price': '0.0001' })).json()) as unknown
    assert.equal(
      (failing as [{ errors: [{ extensions: { code: string } }] }])[0].errors[0].extensions.code,
      'price_exceeds_limit'
    )
    const other = await bench.fetch(`${bench.url}/api/demo/api/plain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[{}]'
    })
    assert.match(await other.text(), /The body is a JSON array/)
  })

  it('accepts files mapped by the operation, and rejects others', async () => {
    const form = new FormData()
    const query = 'mutation ($files: [File!]!) { read(files: $files) }'
    form.set('operations', JSON.stringify({ query, variables: { files: [null, null] } }))
    form.set('map', JSON.stringify({ first: ['variables.files.0'], second: ['variables.files.1'] }))
    form.set('first', new File(['one'], 'a.txt'))
    form.set('second', new File(['x'.repeat(100_000)], 'b.bin'))
    const response = await bench.fetch(url, { method: 'POST', body: form })
    assert.deepEqual(await response.json(), { data: { read: ['a.txt: one', `b.bin: ${'x'.repeat(100_000)}`] } })

    form.delete('second')
    const refused = await bench.fetch(url, { method: 'POST', body: form })
    assert.equal(refused.status, 400)
    assert.match(await refused.text(), /the file \\"second\\", which is missing/)
  })
})
