import assert from 'node:assert/strict'
import { validate } from '@readme/openapi-parser'
import { ADMIN_ROUTES } from '../../../node/admin/routes.ts'
import { type Bench, startBench, TOKEN } from './harness.ts'

describe('route table of the admin API', () => {
  let bench: Bench

  before(async () => {
    bench = await startBench()
  })
  after(() => bench.stop())

  it('matches the served OpenAPI document, which is valid', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const text = await (await fetch(`${bench.url}/admin/v1/openapi.json`, { headers })).text()
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, unknown>> }
    const told = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    )
    const declared = Object.values(ADMIN_ROUTES)
      .flat()
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    assert.deepEqual(told.toSorted(), declared.toSorted())
    assert.equal(new Set(declared).size, declared.length)
    assert.equal((await validate(JSON.parse(text))).valid, true)
  })

  it('accepts an optional body, and inserts names into paths', async () => {
    const { id } = await bench.client.request('POST /keys', { body: {} })
    const { replaces } = await bench.client.request('POST /keys/:id/rotate', { params: { id } })
    assert.equal(replaces, id)
    await assert.rejects(bench.client.request('GET /keys/:id', { params: { id: '../status?x=/' } }), {
      code: 'invalid_request'
    })
  })
})
