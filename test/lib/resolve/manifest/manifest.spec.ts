import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { equals } from 'uint8arrays/equals'
import { utf8 } from '../../../../lib/base/bytes.ts'
import { CLOCK_SKEW_MS, MANIFEST_BYTES_MAX, MANIFEST_TTL_MS } from '../../../../lib/base/limits/directory.ts'
import type { Manifest } from '../../../../lib/interface/manifest.ts'
import { checkManifest } from '../../../../lib/resolve/manifest/check-manifest.ts'
import { decodeManifest, encodeManifest } from '../../../../lib/resolve/manifest/manifest-codec.ts'
import { createManifestSigner } from '../../../../lib/resolve/manifest/manifest-signer.ts'
import { signManifest } from '../../../../lib/resolve/manifest/sign-manifest.ts'
import { storedManifest } from '../../../../lib/resolve/manifest/stored-manifest.ts'
import { verifyManifest } from '../../../../lib/resolve/manifest/verify-manifest.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { idOf, keyOf, manifestOf, NOW, sealAs } from '../fixtures.ts'

const refused = (why: RegExp) => ({ code: 'invalid_request', message: why })

const REPORT = { until: NOW, days: 7, calls: 1_000, goodPerMille: 995, p50Ms: 30, p95Ms: 200 }

describe('manifest', () => {
  let key: Ed25519PrivateKey
  let other: Ed25519PrivateKey
  let manifest: Manifest

  before(async () => {
    key = await keyOf('provider')
    other = await keyOf('somebody else')
    manifest = manifestOf(idOf(key), {
      idempotent: true,
      api: {
        operations: [
          { name: 'get', description: '', input: { type: 'object', properties: { symbol: { type: 'string' } } } },
          { name: 'list', output: {} }
        ]
      }
    })
  })

  it('decodes to the encoded value, and encodes to the same bytes every time', () => {
    const bytes = encodeManifest(manifest)
    assert.deepEqual(decodeManifest(bytes), manifest)
    assert.deepEqual(encodeManifest(manifest), bytes)
    const graph = manifestOf(idOf(key), { protocol: 'GraphQL', api: { operations: [], sdl: 'type Query { a: Int }' } })
    assert.deepEqual(decodeManifest(encodeManifest(graph)), graph)
    // An owner may use a protocol of a later version. Other nodes need not know it.
    const unknown = manifestOf(idOf(key), { protocol: 'gRPC-Web' })
    assert.deepEqual(decodeManifest(encodeManifest(unknown)), unknown)
    checkManifest(unknown)
    const reporting = manifestOf(idOf(key), { selfReport: REPORT })
    assert.deepEqual(decodeManifest(encodeManifest(reporting)), reporting)
  })

  it('is read from the catalogue without parsing its schemas, until one is needed', async () => {
    const { envelope } = await signManifest(manifest, key)
    const parsed: string[] = []
    const { parse } = JSON
    JSON.parse = (text: string) => {
      parsed.push(text)
      return parse(text) as unknown
    }
    try {
      const stored = storedManifest(envelope).manifest
      assert.deepEqual(parsed, [])
      assert.deepEqual(stored, manifest)
      assert.deepEqual({ ...stored.api.operations[0] }, manifest.api.operations[0])
      assert.equal(parsed.length, 2, 'each schema once')
    } finally {
      JSON.parse = parse
    }
  })

  it('ignores fields of a later version', () => {
    const later = new Uint8Array([...encodeManifest(manifest), 0xfa, 0x07, 3, 1, 2, 3, 0x80, 0x08, 1])
    assert.deepEqual(decodeManifest(later), manifest)
  })

  it('can be verified by anybody who has its envelope', async () => {
    const signed = await signManifest(manifest, key)
    const verified = await verifyManifest(signed.envelope, { now: NOW, id: `ticker@${idOf(key)}` })
    assert.deepEqual(verified, signed)
  })

  it('is signed by its own provider only', async () => {
    await assert.rejects(signManifest(manifest, other), refused(/only the provider itself/i))
    const forged = await sealAs('manifest', encodeManifest(manifest), other)
    await assert.rejects(verifyManifest(forged, { now: NOW }), refused(/not signed by its provider/))
    const rsa = await generateKeyPair('RSA', 1024)
    await assert.rejects(
      verifyManifest(await sealAs('manifest', encodeManifest(manifest), rsa), { now: NOW }),
      refused(/signature/)
    )
  })

  it('is refused with any bit changed, truncated, or with bytes added', async () => {
    const { envelope } = await signManifest(manifest, key)
    for (let at = 0; at < envelope.length; at += 7) {
      const changed = envelope.slice()
      changed[at]! ^= 1
      await assert.rejects(verifyManifest(changed, { now: NOW }), refused(/./), `byte ${at}`)
      await assert.rejects(verifyManifest(envelope.subarray(0, at), { now: NOW }), refused(/./), `cut at ${at}`)
    }
    const padded = new Uint8Array([...envelope, 0x7a, 1, 0])
    await assert.rejects(verifyManifest(padded, { now: NOW }), refused(/canonical/))
  })

  it('is not accepted as any other document that the provider signs', async () => {
    const asRecord = await sealAs('record', encodeManifest(manifest), key)
    await assert.rejects(verifyManifest(asRecord, { now: NOW }), refused(/signature/))
  })

  it('is valid from its issue to its expiry, with a tolerance for clocks', async () => {
    const { envelope } = await signManifest(manifest, key)
    await verifyManifest(envelope, { now: manifest.issuedAt - CLOCK_SKEW_MS })
    await verifyManifest(envelope, { now: manifest.expiresAt - 1 })
    await assert.rejects(verifyManifest(envelope, { now: manifest.expiresAt }), refused(/expired/))
    await assert.rejects(verifyManifest(envelope, { now: NOW - CLOCK_SKEW_MS - 1 }), refused(/future/))
  })

  it('is refused when it belongs to another API than requested', async () => {
    const { envelope } = await signManifest(manifest, key)
    await assert.rejects(verifyManifest(envelope, { now: NOW, id: `other@${idOf(key)}` }), refused(/another API/))
  })

  it('is refused above its size limit, whoever signed it', async () => {
    const api = { operations: [{ name: 'a', description: 'x'.repeat(MANIFEST_BYTES_MAX) }] }
    const large = { ...manifest, api }
    await assert.rejects(signManifest(large, key), refused(/has \d+ bytes/))
    const sealed = await sealAs('manifest', encodeManifest(large), key)
    await assert.rejects(verifyManifest(sealed, { now: NOW }), refused(/too large/))
  })

  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) })
  const broken: Array<[what: string, changes: Partial<Manifest>, why: RegExp]> = [
    ['a name with capitals', { name: 'Ticker' }, /name/],
    ['a name with a slash', { name: 'a/b' }, /name/],
    ['a protocol with a space', { protocol: 'g RPC' }, /protocol/],
    ['no protocol', { protocol: '' }, /protocol/],
    ['a protocol of 33 characters', { protocol: 'x'.repeat(33) }, /protocol/],
    ['a report on the future', { selfReport: { ...REPORT, until: NOW + 1 } }, /ends in the future/],
    ['a report on a year', { selfReport: { ...REPORT, days: 365 } }, /days/],
    ['a report on no calls', { selfReport: { ...REPORT, calls: 0 } }, /calls of its self-report/],
    ['a report of more than all', { selfReport: { ...REPORT, goodPerMille: 1_001 } }, /success/],
    ['a report of a p95 below its p50', { selfReport: { ...REPORT, p50Ms: 9, p95Ms: 8 } }, /times of its self-report/],
    ['another currency', { currency: 'EUR' as 'USDC' }, /currency/],
    ['a rate of no calls', { rateLimit: { calls: 0, perMs: 1 } }, /rate limit/],
    ['a rate over more than a day', { rateLimit: { calls: 1, perMs: 86_400_001 } }, /rate limit/],
    ['a price above all USDC', { price: 10n ** 15n + 1n }, /price/],
    ['an unknown state', { state: 'toString' as 'draft' }, /state/],
    ['no revision', { revision: 0 }, /revision/],
    ['a life without end', { expiresAt: NOW + MANIFEST_TTL_MS + 1 }, /too long/],
    ['a life that ends before it began', { expiresAt: NOW - 1 }, /validity is too long or empty/],
    ['a description for a terminal', { description: 'hello \u001b[2J' }, /control/],
    ['a description too long', { description: 'x'.repeat(2_001) }, /description/],
    ['a tag twice', { tags: ['a', 'a'] }, /twice/],
    ['an empty tag', { tags: [''] }, /tag/],
    ['an operation twice', { api: { operations: [{ name: 'a' }, { name: 'a' }] } }, /same name/],
    ['an SDL on a REST API', { api: { operations: [], sdl: 'type Query' } }, /SDL/],
    ['a schema too deep', { api: { operations: [{ name: 'a', input: deep(65) as never }] } }, /deeper/]
  ]
  for (const [what, changes, why] of broken) {
    it(`is neither signed nor accepted with ${what}`, async () => {
      const bad = manifestOf(idOf(key), changes)
      await assert.rejects(signManifest(bad, key), refused(why))
      const sealed = await sealAs('manifest', encodeManifest(bad), key)
      await assert.rejects(verifyManifest(sealed, { now: NOW }), refused(why))
    })
  }

  it('is neither signed nor accepted with a payout that is no address', async () => {
    const bad = manifestOf(idOf(key), { payout: '0x12' })
    await assert.rejects(signManifest(bad, key), refused(/payout/))
    const short = Uint8Array.from([...encodeManifest(manifestOf(idOf(key))), 0x7a, 19, ...new Uint8Array(19)])
    await assert.rejects(verifyManifest(await sealAs('manifest', short, key), { now: NOW }), refused(/cannot be read/))
  })

  it('is refused when its payload is not a manifest', async () => {
    const tooManyTags = encodeManifest({ ...manifest, tags: Array.from({ length: 17 }, (_, i) => `t${i}`) })
    const schemaIsNoObject = new Uint8Array([0x4a, 7, 0x0a, 1, 0x61, 0x1a, 2, ...utf8('[]')])
    const nonsense = [utf8('hello'), new Uint8Array([0x0a, 0xff]), new Uint8Array(100).fill(0x0b), tooManyTags]
    for (const payload of [...nonsense, schemaIsNoObject]) {
      const sealed = await sealAs('manifest', payload, key)
      await assert.rejects(verifyManifest(sealed, { now: NOW }), refused(/cannot be read/))
    }
  })

  it('is signed and verified by the manifest signer of a provider key', async () => {
    const clock = manualClock()
    const manifestSigner = createManifestSigner({ providerKey: key, clock })
    assert.equal(manifestSigner.provider, idOf(key))
    const signed = await manifestSigner.sign(manifest)
    assert.deepEqual(await manifestSigner.verify(signed.envelope), signed)
    await clock.advance(MANIFEST_TTL_MS)
    await assert.rejects(manifestSigner.verify(signed.envelope), refused(/expired/))
    const delegation = await manifestSigner.delegate(idOf(other), NOW + 5)
    assert.equal(delegation.provider, idOf(key))
    assert.equal(delegation.peer, idOf(other))
    assert.ok(!equals(delegation.envelope, signed.envelope))
  })
})
