import assert from 'node:assert/strict'
import { buildSchema, graphqlSync } from 'graphql'
import { createMemoryStore, limits, SoukError, systemClock } from '../../../lib/index.ts'
import { createTestnet, type Testnet } from '../../../lib/testing/index.ts'
import { Payout } from '../../../node/payments/payout.ts'
import { Registrations } from '../../../node/registrations/registrations.ts'
import { DescriptionUpdates } from '../../../node/upstream/description-updates.ts'
import { graphqlFactory } from '../../../protocols/index.ts'
import { eventually } from '../../helpers/eventually.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

describe('description updates', () => {
  it('are published at once, then at a limited rate, always the newest one', async () => {
    const clock = manualClock()
    const renewed: string[] = []
    const news = new DescriptionUpdates({
      clock,
      log: () => {},
      renew: async (name, snapshot) => void renewed.push(`${name} ${snapshot}`)
    })
    for (const snapshot of ['1', '2', '3']) {
      news.heard('a', snapshot)
      await settle()
    }
    news.heard('b', '1')
    await settle()
    assert.deepEqual(renewed, ['a 1', 'b 1'])
    await clock.advance(limits.DESCRIPTION_RENEWED_MS)
    assert.deepEqual(renewed, ['a 1', 'b 1', 'a 3'])
    news.heard('a', '4')
    news.stop()
    await clock.advance(2 * limits.DESCRIPTION_RENEWED_MS)
    assert.equal(renewed.length, 3)
  })

  it('are published again after an error that passes, unless there is a newer one', async () => {
    const clock = manualClock()
    const tried: string[] = []
    let error: SoukError | undefined = new SoukError('store_unavailable')
    const renew = async (_name: string, snapshot: string) => {
      tried.push(snapshot)
      if (error !== undefined) throw error
    }
    const news = new DescriptionUpdates({ clock, log: () => {}, renew })
    news.heard('a', '1')
    await clock.advance(limits.DESCRIPTION_RENEWED_MS)
    news.heard('a', '2')
    await clock.advance(limits.DESCRIPTION_RENEWED_MS)
    error = new SoukError('invalid_request')
    await clock.advance(limits.DESCRIPTION_RENEWED_MS)
    assert.deepEqual(tried, ['1', '1', '2', '2'])
    await clock.advance(2 * limits.DESCRIPTION_RENEWED_MS)
    assert.equal(tried.length, 4)
  })
})

describe('a listing whose API changes', () => {
  const NEVER = new AbortController().signal
  let sdl = 'type Query { a: Int }'
  let upstream: ScriptedUpstream
  let testnet: Testnet
  const store = createMemoryStore()
  const running: Registrations[] = []

  const registrations = () => {
    const made = new Registrations({
      souk: testnet.nodes[0]!.souk,
      documents: store.documents,
      factories: { GraphQL: async () => graphqlFactory },
      clock: systemClock,
      payout: new Payout({ profile: { name: 'tests', directory: '/nowhere' }, payout: undefined, isNeeded: false }),
      log: () => {}
    })
    running.push(made)
    return made
  }
  before(async () => {
    await store.open()
    testnet = await createTestnet({ nodes: 1 })
    upstream = await scriptedUpstream((response, { body }) => {
      const { query } = JSON.parse(body.toString()) as { query: string }
      const result = graphqlSync({ schema: buildSchema(sdl), source: query, rootValue: { a: 1, b: 2, c: 3 } })
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
    })
  })
  after(async () => {
    for (const one of running) one.stop()
    await testnet.stop()
    await upstream.close()
    await store.close()
  })

  const manifest = () => testnet.nodes[0]!.souk.listings()[0]!.signed.manifest
  const published = (field: string) =>
    eventually(`${field} in the listing`, 10_000, () =>
      manifest().api.sdl?.includes(`${field}: Int`) ? true : undefined
    )

  it('gets a new revision automatically, also after a restart', async () => {
    const { souk } = testnet.nodes[0]!
    await registrations().register(
      { terms: { name: 'api', price: '0' }, protocol: 'GraphQL', asked: { endpoint: upstream.url } },
      NEVER
    )
    assert.equal(manifest().revision, 1)
    sdl = 'type Query { a: Int, b: Int }'
    const reply = await souk.call({ api: 'api', body: { query: '{ b }', variables: {} } })
    assert.deepEqual(await reply.json(), { data: { b: 2 } })
    await published('b')
    assert.equal(manifest().revision, 2)

    running.at(-1)?.stop()
    sdl = 'type Query { a: Int, b: Int, c: Int }'
    await registrations().restore()
    await published('c')
    assert.equal(manifest().revision, 3)
    assert.deepEqual(await (await souk.call({ api: 'api', body: { query: '{ c }', variables: {} } })).json(), {
      data: { c: 3 }
    })
  })
})
