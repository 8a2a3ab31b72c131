import assert from 'node:assert/strict'
import { QUALITY_WRITE_MS, SELF_REPORT_CALLS_MIN } from '../../lib/base/limits/directory.ts'
import { createMemoryStore, handler, SoukError } from '../../lib/index.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'

describe('the quality of an API', () => {
  let testnet: Testnet
  afterEach(() => testnet.stop())

  it('counts this node’s own calls: successes, failures, and errors of the caller', async () => {
    const store = createMemoryStore()
    testnet = await createTestnet({ nodes: 2, options: (index) => (index === 1 ? { store } : {}) })
    const [owner, consumer] = testnet.nodes
    assert.ok(owner !== undefined && consumer !== undefined)
    const answer = handler(async ({ body }) => {
      const { want } = body as { want: string }
      if (want === 'fault') throw new SoukError('upstream_unreachable')
      if (want === 'refusal') throw new SoukError('invalid_request')
      return { ok: true }
    })
    const { signed } = await owner.souk.serve({ name: 'judged', price: '0.001' }, answer)
    for (const want of ['well', 'well', 'well', 'fault', 'refusal', 'refusal']) {
      await consumer.souk.call({ api: signed.id, body: { want } }).catch(() => undefined)
    }
    await consumer.souk.call({ api: signed.id, body: { want: 'well' }, maxPrice: '0.0001' }).catch(() => undefined)
    const { quality, firstSeenAt } = await consumer.souk.reputation(signed.id)
    assert.ok(Math.abs(quality.calls - 4) < 0.01, String(quality.calls))
    assert.ok(Math.abs((quality.successRate ?? 0) - 0.75) < 0.01)
    assert.ok((quality.p50Ms ?? 0) >= 1 && (quality.p50Ms ?? Infinity) < 5_000)
    assert.ok(firstSeenAt !== undefined && firstSeenAt <= Date.now())
    assert.equal(
      (await consumer.souk.resolve(signed.id)).signed.manifest.selfReport,
      undefined,
      'too few calls for a report'
    )
    const { listings } = await consumer.souk.search({ text: 'judged', sort: 'quality' })
    assert.ok(Math.abs((listings[0]?.quality.calls ?? 0) - 4) < 0.01)
    assert.equal(
      (await owner.souk.reputation(signed.id)).quality.calls,
      0,
      'calls of other consumers are not published'
    )

    // The node writes the data when it stops, long before the normal write delay.
    assert.ok(QUALITY_WRITE_MS > 1_000)
    await consumer.stop()
    await store.open()
    assert.equal((await store.documents.list('quality')).length, 1)
    assert.equal((await store.listings.get(signed.id))?.id, signed.id)
  })
  it('includes the owner’s self-report, which does not affect the ranking', async () => {
    testnet = await createTestnet({ nodes: 2 })
    const [owner, consumer] = testnet.nodes
    assert.ok(owner !== undefined && consumer !== undefined)
    const init = { name: 'reported', price: '0.001' }
    const answer = handler(() => ({ ok: true }))
    const { signed } = await owner.souk.serve(init, answer)
    for (let i = 0; i < SELF_REPORT_CALLS_MIN; i++) await consumer.souk.call({ api: signed.id, body: {} })
    await owner.souk.serve({ ...init, description: 'With new terms' }, answer)
    const { signed: seen } = await consumer.souk.resolve(signed.id, { refresh: true })
    const { calls, goodPerMille, p50Ms, p95Ms } = seen.manifest.selfReport ?? {}
    assert.deepEqual([calls, goodPerMille], [SELF_REPORT_CALLS_MIN, 1_000])
    assert.ok((p50Ms ?? 0) >= 1 && (p95Ms ?? 0) >= (p50Ms ?? 0))
    const newcomer = await testnet.add()
    assert.equal((await newcomer.souk.reputation(signed.id)).quality.calls, 0)
  })
})
