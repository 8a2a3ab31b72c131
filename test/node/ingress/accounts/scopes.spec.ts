import assert from 'node:assert/strict'
import { SoukError } from '../../../../lib/index.ts'
import type { ApiRef } from '../../../../lib/interface/index.ts'
import { dnsLookup, Scopes } from '../../../../node/names/scopes.ts'
import { peerId } from '../../../helpers/call-record.ts'
import { startDns, type TestDns } from '../../../helpers/dns-server.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { answer, PROVIDER, type Running, startIngress } from '../harness.ts'

const [OTHER, ALIASED] = [peerId('Q'), peerId('R')]

/** Over HTTP, with a DNS server that is asked over UDP. */
describe('ingress: calls by a scoped name', () => {
  let dns: TestDns
  let ingress: Running

  beforeEach(async () => {
    dns = await startDns()
    const souk = { pinned: async (name: string) => (name === 'acme' ? ALIASED : undefined) }
    const scopes = new Scopes({ souk, lookup: dnsLookup([dns.address]), clock: manualClock() })
    ingress = await startIngress({}, undefined, undefined, scopes)
    ingress.onCall = ({ api }) => {
      const { name, provider } = api as ApiRef
      return answer({ body: Buffer.from(JSON.stringify({ name, provider: provider ?? null })) })
    }
  })
  afterEach(async () => {
    await ingress.close()
    dns.close()
  })

  const call = async (scope: string, headers = {}) => {
    const response = await ingress.post(`/api/${scope}/api/ticker`, {}, headers)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  it('go to the provider that the domain’s TXT record names, the alias, or the id itself', async () => {
    dns.records.set('_souk.acme.example.com', [`provider=${PROVIDER}`])
    for (const [scope, provider] of [
      ['acme.example.com', PROVIDER],
      ['ACME.example.com', PROVIDER],
      ['acme', ALIASED],
      [OTHER, OTHER],
      ['demo', null]
    ]) {
      const { status, body } = await call(String(scope))
      assert.deepEqual([status, body], [200, { name: 'ticker', provider }], String(scope))
    }
    assert.deepEqual(dns.asked, ['_souk.acme.example.com'])
  })

  it('respect the key’s allowed APIs, by any scope', async () => {
    dns.records.set('_souk.acme.example.com', [`provider=${PROVIDER}`])
    dns.records.set('_souk.other.example.com', [`provider=${OTHER}`])
    const { key } = await ingress.keys.issue({ label: 'scoped', apis: [`ticker@${PROVIDER}`] })
    const withKey = { 'x-consumer-key': key }
    assert.equal((await call('acme.example.com', withKey)).status, 200)
    assert.deepEqual(await call('other.example.com', withKey).then(({ body }) => body['code']), 'key_not_permitted')
    assert.equal(ingress.calls.length, 1)
  })

  it('with an unknown scope return an error and call nothing', async () => {
    const { status, body } = await call('nobody.example.com')
    assert.deepEqual([status, body['code']], [404, 'api_not_found'])
    assert.match(String(body['detail']), /nobody\.example\.com/)
    assert.equal(ingress.calls.length, 0)
  })

  it('return 409 with the candidates if a domain names two, and 504 if its DNS does not respond', async () => {
    dns.records.set('_souk.split.example.com', [`provider=${PROVIDER}`, `provider=${OTHER}`])
    dns.silent.add('_souk.silent.example.com')
    const split = await call('split.example.com')
    assert.deepEqual([split.status, split.body['code']], [409, 'name_conflict'])
    assert.deepEqual(split.body['candidates'], [{ id: PROVIDER }, { id: OTHER }])
    const silent = await call('silent.example.com')
    assert.deepEqual([silent.status, silent.body['code']], [504, 'lookup_timeout'])
    assert.equal(ingress.calls.length, 0)
  })

  it('never go to another provider if the named one no longer serves the API', async () => {
    dns.records.set('_souk.acme.example.com', [`provider=${PROVIDER}`])
    ingress.onCall = ({ api }) => {
      assert.deepEqual(api, { name: 'ticker', provider: PROVIDER })
      throw new SoukError('api_not_found')
    }
    assert.equal((await call('acme.example.com')).status, 404)
  })
})
