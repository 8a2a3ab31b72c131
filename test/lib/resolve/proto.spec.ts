import assert from 'node:assert/strict'
import protobuf from 'protobufjs'
import { utf8 } from '../../../lib/base/bytes.ts'
import type { Manifest } from '../../../lib/interface/manifest.ts'
import { ANNOUNCEMENT, CATALOGUE_REPLY, CATALOGUE_REQUEST } from '../../../lib/resolve/catalogue/catalogue-codec.ts'
import { DESCRIPTION_REPLY, DESCRIPTION_REQUEST } from '../../../lib/describe/description-codec.ts'
import { DELEGATION_MESSAGE } from '../../../lib/resolve/directory/delegation.ts'
import { MANIFEST_REPLY, MANIFEST_REQUEST } from '../../../lib/resolve/manifest/exchange-codec.ts'
import type { Plan } from '../../../lib/interface/plan.ts'
import { decodeManifest, encodeManifest } from '../../../lib/resolve/manifest/manifest-codec.ts'
import { RECORD_MESSAGE } from '../../../lib/resolve/directory/record.ts'
import { idOf, keyOf, manifestOf, NOW } from './fixtures.ts'

/** Numbers as texts, bytes as base64, so values of both decoders can be compared. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, member: unknown) => {
      if (typeof member === 'bigint' || typeof member === 'number') return String(member)
      return member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member
    })
  )

const ROOT = { root: `0x${'07'.repeat(32)}` as const, documents: 65_536, operations: 2_000, sdlParts: 128 }

describe('docs/reference/souk-directory.proto', () => {
  let types: protobuf.Root

  before(async () => {
    types = await protobuf.load('docs/reference/souk-directory.proto')
  })

  function read(type: string, bytes: Uint8Array): unknown {
    const message = types.lookupType(`souk.${type}`)
    return plain(
      message.toObject(message.decode(bytes), { longs: String, bytes: String, defaults: true, arrays: true })
    )
  }

  function write(type: string, value: object): Uint8Array {
    const message = types.lookupType(`souk.${type}`)
    return Uint8Array.from(message.encode(message.fromObject(value)).finish())
  }

  it('describes a manifest, in both directions', async () => {
    const operation = { name: 'get', description: '', input: { type: 'object' }, output: { type: 'number' } }
    const manifest: Manifest = manifestOf(idOf(await keyOf('a')), {
      protocol: 'GraphQL',
      idempotent: true,
      price: 10n ** 15n,
      events: { price: 7n, included: 3 },
      payout: `0x${'ab'.repeat(20)}`,
      selfReport: { until: NOW, days: 7, calls: 10 ** 12, goodPerMille: 999, p50Ms: 30, p95Ms: 600_000 },
      rateLimit: { calls: 100, perMs: 60_000, burst: 20 },
      revision: Number.MAX_SAFE_INTEGER,
      api: { operations: [operation, { name: 'bare' }], sdl: '', requestHeaders: ['x-tenant'], described: ROOT }
    })
    const { api, events, issuedAt, expiresAt, ...rest } = manifest
    const asText = { ...operation, input: '{"type":"object"}', output: '{"type":"number"}' }
    const message = { ...rest, issuedAt, expiresAt, operations: [asText, { name: 'bare' }], sdl: api.sdl }
    const payout = Buffer.alloc(20, 0xab).toString('base64')
    const described = { ...ROOT, root: Buffer.alloc(32, 7).toString('base64') }
    const bare = { subscriptionOnly: false, plans: [], requestHeaders: ['x-tenant'], described }
    const priced = { eventPrice: events?.price.toString(), eventsIncluded: events?.included }
    const object = { ...bare, ...message, price: message.price.toString(), payout, ...priced }
    assert.deepEqual(read('Manifest', encodeManifest(manifest)), plain(object))
    assert.deepEqual(decodeManifest(write('Manifest', object)), manifest)
  })

  it('describes plans and deprecation, in both directions', async () => {
    const plain0 = { id: 'free', name: 'Free', fee: 0n, period: 'day', trialDays: 0, overage: [], since: NOW } as const
    const tiers = [{ upTo: 10, price: 5n }, { price: 10n ** 15n }]
    const full: Plan = {
      id: 'pro',
      name: 'Pro',
      description: '',
      fee: 5_000_000n,
      period: 'month' as const,
      trialDays: 7,
      included: 0,
      overage: tiers,
      rateLimit: { calls: 100, perMs: 60_000, burst: 20 },
      inFlightMax: 20,
      since: NOW,
      closedAt: NOW + 1
    }
    const provider = idOf(await keyOf('a'))
    const deprecation = {
      at: NOW,
      sunsetAt: NOW + 1,
      successor: `ticker-2@${provider}`,
      link: 'https://a.example/'
    } as const
    const manifest = manifestOf(provider, { plans: [plain0, full], payPerCall: false, major: 2, deprecation })
    const { plans: _, payPerCall: __, api: ___, ...rest } = manifest
    const wireTiers = [{ upTo: 10, price: '5' }, { price: String(10n ** 15n) }]
    const object = {
      ...rest,
      operations: [],
      requestHeaders: [],
      price: rest.price.toString(),
      subscriptionOnly: true,
      plans: [
        { ...plain0, fee: '0' },
        { ...full, fee: '5000000', overage: wireTiers }
      ]
    }
    assert.deepEqual(read('Manifest', encodeManifest(manifest)), plain(object))
    assert.deepEqual(decodeManifest(write('Manifest', object)), manifest)
  })

  it('describes documents of a description, in both directions', () => {
    const request = { root: utf8('root'), leaves: [0, 7, 70_000] }
    assert.deepEqual(read('DescriptionRequest', DESCRIPTION_REQUEST.encode(request)), plain(request))
    assert.deepEqual(plain(DESCRIPTION_REQUEST.decode(write('DescriptionRequest', request))), plain(request))
    const documents = [{ leaf: 7, document: utf8('{}'), path: [utf8('left'), utf8('right')] }]
    assert.deepEqual(read('DescriptionReply', DESCRIPTION_REPLY.encode({ documents })), plain({ documents }))
    assert.deepEqual(plain(DESCRIPTION_REPLY.decode(write('DescriptionReply', { documents }))), plain({ documents }))
  })

  it('describes a record and a delegation, in both directions', async () => {
    const record = {
      id: 'ticker@12D3KooW',
      seq: BigInt(NOW),
      issuedAt: NOW,
      expiresAt: NOW + 1,
      manifestHash: utf8('hash'),
      revision: 7,
      delegations: [utf8('one'), utf8('two')],
      network: 'dev',
      isWithdrawn: true
    }
    assert.deepEqual(read('Record', RECORD_MESSAGE.encode(record)), plain(record))
    const foreign = write('Record', { ...record, seq: record.seq.toString() })
    assert.deepEqual(plain(RECORD_MESSAGE.decode(foreign)), plain(record))
    const delegation = { peer: utf8('peer'), expiresAt: NOW }
    assert.deepEqual(read('Delegation', DELEGATION_MESSAGE.encode(delegation)), plain(delegation))
    assert.deepEqual(plain(DELEGATION_MESSAGE.decode(write('Delegation', delegation))), plain(delegation))
  })

  it('describes the manifest exchange, in both directions', () => {
    const request = { name: 'ticker', provider: 'p', after: 'a' }
    assert.deepEqual(read('ManifestRequest', MANIFEST_REQUEST.encode(request)), request)
    assert.deepEqual(MANIFEST_REQUEST.decode(write('ManifestRequest', request)), request)
    assert.deepEqual(MANIFEST_REQUEST.decode(write('ManifestRequest', { name: 'ticker' })), { name: 'ticker' })
    const reply = { manifests: [utf8('one'), utf8('two')], hasMore: true }
    assert.deepEqual(read('ManifestReply', MANIFEST_REPLY.encode(reply)), plain(reply))
    assert.deepEqual(plain(MANIFEST_REPLY.decode(write('ManifestReply', reply))), plain(reply))
  })

  it('describes announcements and the catalogue exchange, in both directions', () => {
    const announcement = { record: utf8('record'), manifest: utf8('manifest') }
    assert.deepEqual(read('Announcement', ANNOUNCEMENT.encode(announcement)), plain(announcement))
    assert.deepEqual(plain(ANNOUNCEMENT.decode(write('Announcement', announcement))), plain(announcement))
    const request = { network: 'dev', epoch: 'e', after: 7, wanted: [utf8('hash')] }
    assert.deepEqual(read('CatalogueRequest', CATALOGUE_REQUEST.encode(request)), plain(request))
    assert.deepEqual(plain(CATALOGUE_REQUEST.decode(write('CatalogueRequest', request))), plain(request))
    const reply = {
      epoch: 'e',
      records: [utf8('r')],
      through: 9,
      hasMore: true,
      manifests: [utf8('m')],
      at: 1_790_000_000_000
    }
    assert.deepEqual(read('CatalogueReply', CATALOGUE_REPLY.encode(reply)), plain(reply))
    assert.deepEqual(plain(CATALOGUE_REPLY.decode(write('CatalogueReply', reply))), plain(reply))
  })
})
