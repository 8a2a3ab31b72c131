import assert from 'node:assert/strict'
import { changesOf, type Compared, replaceRefused } from '../../../node/registrations/changes.ts'

const soap: Compared = {
  protocol: 'SOAP',
  terms: {
    name: 'bank',
    price: '0.001',
    description: 'A bank',
    tags: ['money'],
    rateLimit: { calls: 5, perMs: 1000 }
  },
  upstream: { endpoint: 'http://127.0.0.1:1/ws?wsdl', auth: { bearer: 'old-secret' } }
}

describe('changes of a registration', () => {
  it('are none for the same terms in other words', () => {
    const { terms, upstream, protocol } = soap
    const same: Compared = {
      protocol,
      terms: { ...terms, price: '0.0010', idempotent: false },
      upstream: { ...upstream }
    }
    assert.deepEqual(changesOf(soap, same), [])
  })

  it('name every term that differs, also one that is no longer given', () => {
    const rest: Compared = {
      protocol: 'REST',
      terms: { name: 'bank', price: '0.5', pricePerEvent: '0.1' },
      upstream: { endpoint: 'http://127.0.0.1:2/', method: 'GET' }
    }
    const changes = changesOf(soap, rest).map(({ field, from, to }) => `${field}: ${from} → ${to}`)
    assert.deepEqual(changes, [
      'protocol: SOAP → REST',
      'endpoint: http://127.0.0.1:1/ws?wsdl → http://127.0.0.1:2/',
      'price: 0.001 USDC → 0.5 USDC',
      'description: A bank → -',
      'tags: ["money"] → -',
      'rate_limit: {"calls":5,"perMs":1000} → -',
      'price_per_event: - → 0.1 USDC',
      'method: - → GET',
      'credentials: stored → -'
    ])
  })

  it('name documents without their text', () => {
    const of = (upstream: Partial<Compared['upstream']>) => ({ ...soap, upstream: { ...soap.upstream, ...upstream } })
    const lines = (before: Compared, after: Compared) =>
      changesOf(before, after).map(({ field, from, to }) => `${field}: ${from} → ${to}`)
    const wsdl = { files: { 'a.wsdl': 'AAAA', 'b.xsd': 'BBBB' } }
    assert.deepEqual(
      lines(
        of({ wsdl, openapi: { text: 'old' } }),
        of({ wsdl: { files: { 'a.wsdl': 'CCCC' } }, openapi: { text: 'new' } })
      ),
      ['wsdl: 2 files → 1 file', 'openapi: a document → changed']
    )
    assert.deepEqual(lines(of({ wsdl }), of({ wsdl: { ...wsdl, entry: 'b.wsdl' } })), [
      'wsdl: 2 files → 2 files, entry b.wsdl'
    ])
    assert.deepEqual(lines(of({ openapi: { text: 'old' } }), of({ openapi: { url: 'http://127.0.0.1:1/o.json' } })), [
      'openapi: a document → http://127.0.0.1:1/o.json'
    ])
    assert.deepEqual(lines(of({}), of({ graphql: { schema: 'type Query { a: Int }' } })), ['graphql: - → a schema'])
    assert.deepEqual(
      lines(of({ graphql: { costs: { 'Query.a': 2 } } }), of({ graphql: { documents: { one: '{ a }' } } })),
      ['graphql: costs {"Query.a":2} → documents 1']
    )
  })

  it('show no credentials', () => {
    const other = { ...soap, upstream: { ...soap.upstream, auth: { bearer: 'new-secret' } } }
    const refused = replaceRefused('bank', changesOf(soap, other))
    assert.match(refused.message, /credentials: stored → replaced/)
    assert.doesNotMatch(JSON.stringify([refused.message, refused.members]), /secret/)
  })
})
