import assert from 'node:assert/strict'
import { limits } from '../../../lib/index.ts'
import { dnsLookup, Scopes } from '../../../node/names/scopes.ts'
import { peerId } from '../../helpers/call-record.ts'
import { startDns, type TestDns } from '../../helpers/dns-server.ts'
import { manualClock } from '../../helpers/manual-clock.ts'

const [PROVIDER, OTHER] = [peerId('P'), peerId('Q')]

describe('scopes', () => {
  let dns: TestDns
  let clock: ReturnType<typeof manualClock>
  let scopes: Scopes

  beforeEach(async () => {
    dns = await startDns()
    clock = manualClock()
    const pins = new Map([['acme', OTHER]])
    const souk = { pinned: async (name: string) => pins.get(name) }
    scopes = new Scopes({ souk, lookup: dnsLookup([dns.address]), clock })
  })
  afterEach(() => dns.close())

  it('are provider ids, aliases pinned here, and domains that name a provider in a TXT record', async () => {
    dns.records.set('_souk.example.com', ['v=spf1 -all', `provider=${PROVIDER}`])
    assert.equal(await scopes.providerOf(PROVIDER), PROVIDER)
    assert.equal(await scopes.providerOf('acme'), OTHER)
    assert.equal(await scopes.providerOf('example.com'), PROVIDER)
    assert.equal(await scopes.providerOf('EXAMPLE.com'), PROVIDER)
    assert.deepEqual(dns.asked, ['_souk.example.com'])
  })

  it('are nothing else, and invalid domains cause no DNS query', async () => {
    for (const scope of [
      'nobody',
      'localhost',
      '..',
      'a..b',
      '-a.com',
      '1.2.3.4',
      'x'.repeat(300),
      'exa mple.com',
      'é.com',
      ''
    ]) {
      assert.equal(await scopes.providerOf(scope), undefined, scope)
    }
    assert.deepEqual(dns.asked, [])
    dns.records.set('_souk.wrong.com', [
      'provider=12D3KooWshort',
      `provider = ${PROVIDER}`,
      'hello',
      `xprovider=${PROVIDER}`
    ])
    assert.equal(await scopes.providerOf('wrong.com'), undefined)
    assert.equal(await scopes.providerOf('missing.com'), undefined)
  })

  it('that name several providers are rejected with the candidates', async () => {
    dns.records.set('_souk.split.com', [`provider=${PROVIDER}`, `provider=${OTHER}`, `provider=${OTHER}`])
    await assert.rejects(scopes.providerOf('split.com'), {
      code: 'name_conflict',
      members: { candidates: [{ id: PROVIDER }, { id: OTHER }] }
    })
  })

  it('are cached, found or not, each for its time to live', async () => {
    assert.equal(await scopes.providerOf('late.com'), undefined)
    dns.records.set('_souk.late.com', [`provider=${PROVIDER}`])
    assert.equal(await scopes.providerOf('late.com'), undefined)
    await clock.advance(limits.SCOPE_NEGATIVE_MS)
    assert.equal(await scopes.providerOf('late.com'), PROVIDER)
    dns.records.set('_souk.late.com', [`provider=${OTHER}`])
    await clock.advance(limits.SCOPE_FRESH_MS - 1)
    assert.equal(await scopes.providerOf('late.com'), PROVIDER)
    await clock.advance(1)
    assert.equal(await scopes.providerOf('late.com'), OTHER)
    assert.equal(dns.asked.length, 3)
  })

  it('share concurrent lookups of one domain, and limit the number of lookups', async () => {
    dns.records.set('_souk.busy.com', [`provider=${PROVIDER}`])
    const all = await Promise.all(Array.from({ length: 20 }, () => scopes.providerOf('busy.com')))
    assert.deepEqual(new Set(all), new Set([PROVIDER]))
    assert.equal(dns.asked.length, 1)
    const crowd = Array.from({ length: limits.SCOPES_ASKED_AT_ONCE + 1 }, (_, i) => scopes.providerOf(`d${i}.com`))
    const results = await Promise.allSettled(crowd)
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 1)
  })

  it('are looked up at the servers of the moment: a machine changes its network', async () => {
    const servers = [dns.address]
    const lookup = dnsLookup(servers)
    await assert.rejects(lookup('_souk.moved.com'), { code: 'ENOTFOUND' })
    const elsewhere = await startDns()
    try {
      elsewhere.records.set('_souk.moved.com', ['here'])
      servers[0] = elsewhere.address
      assert.deepEqual(await lookup('_souk.moved.com'), [['here']])
    } finally {
      elsewhere.close()
    }
  })

  it('fail in time if the DNS does not respond, and are looked up again', async () => {
    dns.silent.add('_souk.silent.com')
    await assert.rejects(scopes.providerOf('silent.com'), { code: 'lookup_timeout' })
    dns.silent.clear()
    dns.records.set('_souk.silent.com', [`provider=${PROVIDER}`])
    assert.equal(await scopes.providerOf('silent.com'), PROVIDER)
  })
})
