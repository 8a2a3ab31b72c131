import assert from 'node:assert/strict'
import { validate } from '@readme/openapi-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { SoukError } from '../../../../lib/index.ts'
import { type ApiDescription, operationCount } from '../../../../lib/interface/index.ts'
import { importOpenapi } from '../../../../protocols/rest/openapi/openapi-import.ts'
import { assertCpuBelow } from '../../../helpers/cpu-time.ts'
import { connectCurrent } from '../../mcp/clients.ts'
import { foundListing, type Running, startIngress } from '../harness.ts'

const OPERATIONS = 1_000

/** A document as large ones are: many operations, types that refer to each other, alternatives, and awkward names. */
function document(): string {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const types = Array.from({ length: 200 }, (_, at): [string, object] => [
    `Type${at}`,
    {
      type: 'object',
      description: 'A type. '.repeat(20),
      properties: {
        id: { type: 'string', pattern: '^(a+)+$' },
        next: ref(`Type${(at + 1) % 200}`),
        self: ref(`Type${at}`)
      }
    }
  ])
  const paths = Array.from({ length: OPERATIONS }, (_, at): [string, object] => [
    `/things/${at}/{id}`,
    {
      post: {
        operationId: `things/update-${at}`,
        summary: `Updates thing ${at}.`,
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'filter[name]', in: 'query', schema: { type: 'string' } }
        ],
        requestBody: { content: { 'application/json': { schema: ref(`Type${at % 200}`) } } },
        responses: { 200: { description: 'ok', content: { 'application/json': { schema: ref(`Type${at % 200}`) } } } }
      }
    }
  ])
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Things', version: '1' },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(types) }
  })
}

describe('an API with a large description', () => {
  let ingress: Running
  let description: ApiDescription

  before(async () => {
    description = importOpenapi({ text: document(), endpoint: 'http://127.0.0.1/' }).description
    ingress = await startIngress()
    const api = await ingress.shelf.publish(foundListing('things').id, description)
    const listing = foundListing('things', { api })
    assert.equal(operationCount(api), OPERATIONS)
    ingress.onSearch = async () => ({ listings: [listing] })
    ingress.onResolve = async () => ({ signed: listing, owners: [] })
  })
  after(() => ingress.close())

  const get = async (path: string) => {
    const response = await fetch(ingress.url + path)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  it('lists its operations in pages', async () => {
    const names: string[] = []
    let path = '/v1/apis/things/operations?limit=70'
    for (let pages = 0; pages < 20; pages++) {
      const { body } = await get(path)
      const data = body['data'] as Array<{ name: string; summary: string }>
      names.push(...data.map(({ name }) => name))
      assert.match(data[0]?.summary ?? '', /^Updates thing/)
      const { next_cursor: cursor } = body as { readonly next_cursor: string | null }
      if (cursor === null) break
      path = `/v1/apis/things/operations?limit=70&cursor=${cursor}`
    }
    assert.deepEqual(
      names,
      description.operations.map(({ name }) => name)
    )
  })

  it('describes one operation with complete schemas', async () => {
    const name = encodeURIComponent('things/update-7')
    const { body } = await get(`/v1/apis/things/operations/${name}`)
    assert.equal(body['name'], 'things/update-7')
    const ajv = new Ajv2020({ strict: false })
    const check = ajv.compile(body['input'] as object)
    assert.ok(check({ 'path.id': 'a', 'body.id': 'a', next: { next: { id: 'a' } } }), ajv.errorsText(check.errors))
    assert.ok(!check({ 'path.id': 'a', next: { id: 1 } }))
    assert.equal((await get('/v1/apis/things/operations/absent')).status, 404)
  })

  it('shows its first operations, and how many there are', async () => {
    const { body } = await get('/v1/apis/things')
    assert.equal(body['operation_count'], OPERATIONS)
    assert.equal((body['operations'] as unknown[]).length, 100)
    const { body: found } = await get('/v1/apis')
    assert.deepEqual((found['data'] as Array<{ operation_count: number }>)[0]?.operation_count, OPERATIONS)
  })

  it('is one valid OpenAPI document, with each shared type once', async () => {
    const { body } = await get('/v1/apis/things/openapi.json')
    const size = JSON.stringify(body).length
    assert.ok(size < 2_500_000, String(size))
    assert.equal(Object.keys((body['components'] as { schemas: object }).schemas).length, 200)
    const result = await validate(body as unknown as Parameters<typeof validate>[0])
    assert.deepEqual(result.valid ? [] : result.errors, [])
  })

  describe('for agents', () => {
    const connect = () =>
      connectCurrent({ url: `${ingress.url}/mcp?api=things`, headers: { 'x-consumer-key': ingress.key } })

    it('is a tool for each operation, in a form that model vendors accept', async () => {
      const agent = await connect()
      const tools = (await agent.tools()).filter(({ name }) => name.startsWith('things_'))
      assert.equal(tools.length, OPERATIONS)
      assert.equal(new Set(tools.map(({ name }) => name)).size, OPERATIONS)
      for (const { name, inputSchema } of tools) {
        assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/)
        assert.equal(inputSchema['type'], 'object')
        for (const union of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref'])
          assert.ok(!Object.hasOwn(inputSchema, union))
        const properties = Object.keys(inputSchema['properties'] ?? {})
        assert.ok(properties.length >= 3, name)
        for (const property of properties) assert.match(property, /^[a-zA-Z0-9_.-]{1,64}$/)
        assert.ok(depthOf(inputSchema) <= 12)
        assert.doesNotMatch(JSON.stringify(inputSchema), /"(?:\$ref|pattern|\$defs)":/)
      }
      // The aim is 200 ms.
      await assertCpuBelow(2_000, () => agent.tools())
      await agent.close()
    })

    it('calls an operation under the API’s own names', async () => {
      const agent = await connect()
      const tool = (await agent.tools()).find(({ description = '' }) => description.includes('Updates thing 7.'))
      const renamed = Object.keys(tool?.inputSchema['properties'] ?? {}).find((name) => name.startsWith('filter'))
      await agent.call(tool?.name ?? '', { 'path.id': 'a', [renamed ?? '']: 'b' })
      await agent.close()
      assert.deepEqual(ingress.calls.at(-1)?.body, {
        operation: 'things/update-7',
        'path.id': 'a',
        'filter[name]': 'b'
      })
    })

    it('is said to be missing where its name in the URL is wrong', async () => {
      const found = ingress.onResolve
      ingress.onResolve = async (api, options) => {
        if (api === 'typo') throw new SoukError('api_not_found')
        return found(api, options)
      }
      const open = (query: string) =>
        connectCurrent({ url: `${ingress.url}/mcp?${query}`, headers: { 'x-consumer-key': ingress.key } })
      const lost = await open('api=typo')
      await assert.rejects(lost.tools(), /no API named typo/)
      await lost.close()
      const agent = await open('api=typo&api=things')
      const [search] = await agent.tools()
      await agent.close()
      ingress.onResolve = found
      assert.match(search?.description ?? '', /no API named typo/)
    })

    it('shows one operation by souk_show', async () => {
      const agent = await connect()
      const shown = await agent.call('souk_show', { api: 'things', operation: 'things/update-7' })
      await agent.close()
      assert.match(JSON.stringify(shown.content), /Type7/)
    })
  })
})

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Object.hasOwn(value, 'type') || Object.hasOwn(value, 'properties') ? 1 : 0
  return own + Math.max(0, ...Object.values(value).map(depthOf))
}
