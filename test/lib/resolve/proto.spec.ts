import assert from 'node:assert/strict'
import protobuf from 'protobufjs'
import { decodeMessage, encodeMessage } from 'protons-runtime'
import { utf8 } from '../../../lib/base/bytes.ts'
import type { Manifest } from '../../../lib/interface/manifest.ts'
import {
  decodeAnnouncement,
  decodeCatalogueReply,
  decodeCatalogueRequest,
  encodeAnnouncement,
  encodeCatalogueReply,
  encodeCatalogueRequest
} from '../../../lib/resolve/catalogue/catalogue-codec.ts'
import {
  decodeDescriptionReply,
  decodeDescriptionRequest,
  encodeDescriptionReply,
  encodeDescriptionRequest
} from '../../../lib/describe/description-codec.ts'
import { delegationCodec } from '../../../lib/resolve/directory/delegation.ts'
import {
  decodeManifestReply,
  decodeManifestRequest,
  encodeManifestReply,
  encodeManifestRequest
} from '../../../lib/resolve/manifest/exchange-codec.ts'
import type { Plan } from '../../../lib/interface/plan.ts'
import { decodeManifest, encodeManifest } from '../../../lib/resolve/manifest/manifest-codec.ts'
import { recordCodec } from '../../../lib/resolve/directory/record.ts'
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
    assert.deepEqual(read('DescriptionRequest', encodeDescriptionRequest(request)), plain(request))
    assert.deepEqual(plain(decodeDescriptionRequest(write('DescriptionRequest', request))), plain(request))
    const documents = [{ leaf: 7, document: utf8('{}'), path: [utf8('left'), utf8('right')] }]
    assert.deepEqual(read('DescriptionReply', encodeDescriptionReply(documents)), plain({ documents }))
    assert.deepEqual(plain(decodeDescriptionReply(write('DescriptionReply', { documents }))), plain(documents))
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
    assert.deepEqual(read('Record', encodeMessage(record, recordCodec)), plain(record))
    const foreign = write('Record', { ...record, seq: record.seq.toString() })
    assert.deepEqual(plain(decodeMessage(foreign, recordCodec)), plain(record))
    const delegation = { peer: utf8('peer'), expiresAt: NOW }
    assert.deepEqual(read('Delegation', encodeMessage(delegation, delegationCodec)), plain(delegation))
    assert.deepEqual(plain(decodeMessage(write('Delegation', delegation), delegationCodec)), plain(delegation))
  })

  it('describes the manifest exchange, in both directions', () => {
    const request = { name: 'ticker', provider: 'p' }
    assert.deepEqual(read('ManifestRequest', encodeManifestRequest(request)), request)
    assert.deepEqual(decodeManifestRequest(write('ManifestRequest', request)), request)
    assert.deepEqual(decodeManifestRequest(write('ManifestRequest', { name: 'ticker' })), { name: 'ticker' })
    const reply = { manifests: [utf8('one'), utf8('two')] }
    assert.deepEqual(read('ManifestReply', encodeManifestReply(reply)), plain(reply))
    assert.deepEqual(plain(decodeManifestReply(write('ManifestReply', reply))), plain(reply))
  })

  it('describes announcements and the catalogue exchange, in both directions', () => {
    const announcement = { record: utf8('record'), manifest: utf8('manifest') }
    assert.deepEqual(read('Announcement', encodeAnnouncement(announcement)), plain(announcement))
    assert.deepEqual(plain(decodeAnnouncement(write('Announcement', announcement))), plain(announcement))
    const request = { network: 'dev', epoch: 'e', after: 7, wanted: [utf8('hash')] }
    assert.deepEqual(read('CatalogueRequest', encodeCatalogueRequest(request)), plain(request))
    assert.deepEqual(plain(decodeCatalogueRequest(write('CatalogueRequest', request))), plain(request))
    const reply = { epoch: 'e', records: [utf8('r')], through: 9, hasMore: true, manifests: [utf8('m')] }
    assert.deepEqual(read('CatalogueReply', encodeCatalogueReply(reply)), plain(reply))
    assert.deepEqual(plain(decodeCatalogueReply(write('CatalogueReply', reply))), plain(reply))
  })

  it('uses no field that the codecs do not know', () => {
    const fields = Object.fromEntries(
      [
        'Manifest',
        'SelfReport',
        'Plan',
        'Tier',
        'Deprecation',
        'Operation',
        'Record',
        'Delegation',
        'ManifestRequest',
        'ManifestReply',
        'Announcement',
        'CatalogueRequest',
        'CatalogueReply',
        'DescriptionRoot',
        'DescriptionRequest',
        'DescriptionReply',
        'ProvenDocument'
      ].map((type) => [type, types.lookupType(`souk.${type}`).fieldsArray.length])
    )
    assert.deepEqual(fields, {
      Manifest: 25,
      DescriptionRoot: 4,
      SelfReport: 6,
      Plan: 12,
      Tier: 2,
      Deprecation: 4,
      Operation: 4,
      Record: 9,
      Delegation: 2,
      ManifestRequest: 2,
      ManifestReply: 1,
      Announcement: 2,
      CatalogueRequest: 4,
      CatalogueReply: 5,
      DescriptionRequest: 2,
      DescriptionReply: 1,
      ProvenDocument: 3
    })
  })
})
