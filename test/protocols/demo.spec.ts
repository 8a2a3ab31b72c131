import assert from 'node:assert/strict'
import type { Adapter, AdapterFactory } from '../../lib/interface/adapter.ts'
import { startTicker } from '../../node/demo/ticker.ts'
import { startUsers } from '../../node/demo/users.ts'
import { graphqlFactory } from '../../protocols/graphql/graphql-factory.ts'
import { restFactory } from '../../protocols/rest/rest-factory.ts'
import { FOREVER, jsonOf, plainCall } from '../helpers/adapter-bench.ts'

describe('the demo APIs through their adapters', () => {
  const closing: Array<{ close?(): Promise<void> }> = []
  const registered = async (
    factory: AdapterFactory,
    demo: { url: string; close(): Promise<void> }
  ): Promise<Adapter> => {
    closing.push(demo)
    const config = { endpoint: demo.url }
    const { snapshot, warnings } = await factory.inspect(config, FOREVER)
    assert.deepEqual(warnings, [])
    const adapter = factory.open(config, snapshot)
    closing.push(adapter)
    return adapter
  }
  afterEach(async () => {
    for (const one of closing.splice(0).reverse()) await one.close?.()
  })

  it('returns ticks', async () => {
    const ticker = await registered(restFactory, await startTicker())
    const reply = await ticker.call(plainCall({ symbol: 'BTC-USD', interval: '1m' }), FOREVER)
    assert.equal(reply.success, true)
    assert.equal(((await jsonOf(reply)) as { symbol: string }).symbol, 'BTC-USD')
    assert.equal((await ticker.call(plainCall({}), FOREVER)).status, 400)
  })

  it('streams ticks for as long as they are read', async () => {
    const ticker = await registered(restFactory, await startTicker())
    const reply = await ticker.call(plainCall({ symbol: 'BTC' }, [['accept', 'text/event-stream']]), FOREVER)
    assert(!(reply.body instanceof Uint8Array))
    let events = 0
    for await (const chunk of reply.body) {
      events += String(chunk).split('event: candle').length - 1
      if (events === 3) break
    }
    assert.equal(events, 3)
  })

  it('returns users', async () => {
    const users = await registered(graphqlFactory, await startUsers())
    const { operations } = await users.description
    assert.deepEqual(
      operations.map(({ name }) => name),
      ['user', 'users']
    )
    const query = 'query ($id: ID!) { user(id: $id) { name } }'
    const reply = await users.call(plainCall({ query, variables: { id: '1' } }), FOREVER)
    assert.deepEqual([reply.success, await jsonOf(reply)], [true, { data: { user: { name: 'Alan Turing' } } }])
  })
})
