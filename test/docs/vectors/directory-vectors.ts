import { peerIdFromString } from '@libp2p/peer-id'
import { sha256 } from '../../../lib/base/bytes.ts'
import type { DirectoryRecord } from '../../../lib/interface/directory.ts'
import type { Manifest } from '../../../lib/interface/manifest.ts'
import { signDelegation } from '../../../lib/resolve/directory/delegation.ts'
import { payloadOf } from '../../../lib/resolve/directory/envelope.ts'
import { apiCid, catalogueCid, nameCid, recordKey, tagCid } from '../../../lib/resolve/directory/keys.ts'
import { signRecord } from '../../../lib/resolve/directory/record.ts'
import { signManifest } from '../../../lib/resolve/manifest/sign-manifest.ts'
import { hex, identityOf, NOW, PAYOUT, seedOf } from './keys.ts'

const DAY = 86_400_000

/** Peer ids, as libp2p makes them from Ed25519 keys. */
export async function identityVectors() {
  return Promise.all(
    [1, 2, 3].map(async (byte) => {
      const { key, id } = await identityOf(byte)
      const multihash = hex(peerIdFromString(id.toString()).toMultihash().bytes)
      return { seed: hex(seedOf(byte)), public_key: hex(key.publicKey.raw), peer_id: id.toString(), multihash }
    })
  )
}

export async function manifestOfVectors(): Promise<Manifest> {
  const { id } = await identityOf(1)
  return {
    name: 'ticker',
    provider: id.toString(),
    protocol: 'REST',
    description: 'Candles of a market',
    tags: ['market', 'demo'],
    price: 1_000n,
    currency: 'USDC',
    payout: PAYOUT,
    idempotent: true,
    rateLimit: { calls: 100, perMs: 60_000 },
    api: { operations: [{ name: 'candles', input: { type: 'object' } }] },
    state: 'published',
    revision: 3,
    issuedAt: NOW,
    expiresAt: NOW + DAY
  }
}

/** A manifest with every field, except for those of `manifestOfVectors`. */
async function fullManifest(): Promise<Manifest> {
  const { id } = await identityOf(2)
  const rateLimit = { calls: 100, perMs: 60_000, burst: 20 }
  const plan = {
    id: 'pro',
    name: 'Pro',
    description: 'For shops',
    fee: 5_000_000n,
    period: 'month',
    trialDays: 7,
    included: 0,
    overage: [{ upTo: 10, price: 5n }, { price: 0n }],
    rateLimit,
    inFlightMax: 20,
    since: NOW,
    closedAt: NOW + DAY
  } as const
  return {
    ...(await manifestOfVectors()),
    protocol: 'GraphQL',
    idempotent: false,
    price: 2n ** 40n,
    events: { price: 7n, included: 0 },
    rateLimit,
    selfReport: { until: NOW, days: 7, calls: 10 ** 12, goodPerMille: 999, p50Ms: 30, p95Ms: 600_000 },
    api: {
      operations: [
        { name: 'candles', description: 'Kurse – 株価', input: { type: 'object' }, output: { type: 'array' } },
        { name: 'news', description: '' }
      ],
      sdl: 'type Query { candles: [Int!]! news: String }',
      requestHeaders: ['x-tenant', 'x-region']
    },
    plans: [
      { id: 'free', name: 'Free', fee: 0n, period: 'day', trialDays: 0, included: 5, overage: [], since: NOW },
      plan
    ],
    payPerCall: false,
    major: 2,
    deprecation: {
      at: NOW,
      sunsetAt: NOW + 31 * DAY,
      successor: `ticker-2@${id.toString()}`,
      link: 'https://ticker.example/2'
    },
    state: 'deprecated'
  }
}

/** A manifest whose description is a list of documents. */
async function describedManifest(): Promise<Manifest> {
  const root = `0x${hex(sha256(seedOf(7)))}` as const
  const described = { root, documents: 65_536, operations: 2_000, sdlParts: 128 }
  return { ...(await manifestOfVectors()), protocol: 'GraphQL', api: { operations: [], described } }
}

/** What a key signs: manifests and a record of identity 1, and its delegation to node 2, which signs other records. */
async function signedObjects() {
  const [provider, node] = [await identityOf(1), await identityOf(2)]
  const { id, manifest, envelope } = await signManifest(await manifestOfVectors(), provider.key)
  const delegation = await signDelegation({ peer: node.id.toString(), expiresAt: NOW + DAY }, provider.key)
  const record: DirectoryRecord = {
    id,
    seq: BigInt(NOW),
    issuedAt: NOW,
    expiresAt: NOW + DAY / 12,
    manifestHash: sha256(envelope),
    revision: manifest.revision,
    delegations: []
  }
  const byNode: DirectoryRecord = { ...record, seq: BigInt(NOW + 1), delegations: [delegation], network: 'dev' }
  const withdrawal: DirectoryRecord = { ...record, network: 'dev', isWithdrawn: true }
  return {
    manifest: envelope,
    delegation: delegation.envelope,
    record: await signRecord(record, provider.key),
    'record of a delegated node, for the catalogue': await signRecord(byNode, node.key),
    'record of a withdrawal': await signRecord(withdrawal, provider.key),
    'manifest with all fields but described': (await signManifest(await fullManifest(), provider.key)).envelope,
    'manifest of a description in documents': (await signManifest(await describedManifest(), provider.key)).envelope
  }
}

export async function envelopeVectors() {
  return Object.entries(await signedObjects()).map(([name, envelope]) => {
    const [kind = ''] = name.split(' ')
    return {
      name,
      domain: `souk-${kind}`,
      payload_type: `/souk/${kind}`,
      signer: name.includes('node') ? hex(seedOf(2)) : hex(seedOf(1)),
      message: `souk.${kind[0]?.toUpperCase()}${kind.slice(1)}`,
      bytes: hex(payloadOf(envelope)),
      envelope: hex(envelope),
      sha256: hex(sha256(envelope))
    }
  })
}

/** Keys of the DHT. */
export async function directoryKeyVectors() {
  const { name, provider } = await manifestOfVectors()
  const id = `${name}@${provider}` as const
  return [
    { name: 'record', of: id, key: hex(recordKey(id)) },
    { name: 'api', of: id, cid: apiCid(id).toString() },
    { name: 'name', of: name, cid: nameCid(name).toString() },
    { name: 'tag', of: 'Market', cid: tagCid('Market').toString() },
    { name: 'catalogue', of: '', cid: catalogueCid().toString() }
  ]
}
