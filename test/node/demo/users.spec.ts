import assert from 'node:assert/strict'
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, printSchema } from 'graphql'
import type { DemoServer } from '../../../node/demo/demo-server.ts'
import { startUsers } from '../../../node/demo/users.ts'
import { demoAlone } from '../../helpers/demo-alone.ts'

interface Answer {
  data?: Record<string, unknown> | null
  errors?: Array<{ message: string }>
}

describe('the demo user service', () => {
  let users: DemoServer
  before(async () => {
    users = await startUsers()
  })
  after(() => users.close())

  const ask = async (body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(users.url, { method: 'POST', headers, body: JSON.stringify(body) })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: (await response.json()) as Answer
    }
  }

  it('returns a user with posts', async () => {
    const query =
      'query ($id: ID!) { user(id: $id) { id name email createdAt posts(first: 1) { title author { id } } } }'
    const { status, body } = await ask({ query, variables: { id: '3' } })
    assert.equal(status, 200)
    assert.deepEqual(body.data?.['user'], {
      id: '3',
      name: 'Edsger Dijkstra',
      email: 'edsger.dijkstra.3@example.com',
      createdAt: '2024-01-04T00:00:00.000Z',
      posts: [{ title: 'On goto', author: { id: '3' } }]
    })
  })

  it('returns null for an unknown user', async () => {
    for (const id of ['0', '101', 'x', '-1', '1.5']) {
      const { body } = await ask({ query: 'query ($id: ID!) { user(id: $id) { id } }', variables: { id } })
      assert.deepEqual(body, { data: { user: null } }, id)
    }
  })

  it('lists the requested number of users, at most all that exist', async () => {
    const ids = async (first: number) =>
      (await ask({ query: `{ users(first: ${first}) { id } }` })).body.data?.['users'] as unknown[]
    assert.equal((await ids(7)).length, 7)
    assert.equal((await ids(1_000_000)).length, 100)
  })

  it('returns partial data with an error', async () => {
    const query = '{ a: user(id: "1") { id } b: user(id: "1") { posts(first: -1) { id } } }'
    const { status, body } = await ask({ query })
    assert.deepEqual(body.data, { a: { id: '1' }, b: null })
    assert.equal(status, 200)
    assert.equal(body.errors?.[0]?.message, 'first must not be negative.')
  })

  it('selects the operation by its name', async () => {
    const { body } = await ask({
      query: 'query A { user(id: 1) { id } } query B { user(id: 2) { id } }',
      operationName: 'B'
    })
    assert.deepEqual(body, { data: { user: { id: '2' } } })
  })

  it('returns its schema', async () => {
    const { body } = await ask({ query: getIntrospectionQuery() })
    assert.match(printSchema(buildClientSchema(body.data as unknown as IntrospectionQuery)), /user\(id: ID!\): User/)
  })

  it('uses the requested media type', async () => {
    const accept = 'application/graphql-response+json'
    assert.equal((await ask({ query: '{ users { id } }' }, { accept })).type, accept)
    assert.equal((await ask({ query: '{ users { id } }' })).type, 'application/json')
  })

  for (const body of [
    {},
    { query: 7 },
    { query: '{' },
    { query: '{ nothing }' },
    { query: '{ user { id } }' },
    [],
    null
  ]) {
    it(`rejects ${JSON.stringify(body)} with errors`, async () => {
      const { status, body: answer } = await ask(body)
      assert.equal(status, 400)
      assert((answer.errors?.length ?? 0) > 0)
      assert.equal(answer.data, undefined)
    })
  }

  it('accepts POST only', async () => {
    assert.equal((await fetch(users.url)).status, 405)
  })

  it('runs as a process, and ends cleanly', async () => {
    const alone = await demoAlone('users')
    const response = await fetch(alone.url, { method: 'POST', body: '{"query":"{ user(id: 1) { name } }"}' })
    assert.deepEqual(await response.json(), { data: { user: { name: 'Alan Turing' } } })
    assert.equal(await alone.end('SIGTERM'), 0)
  })
})
