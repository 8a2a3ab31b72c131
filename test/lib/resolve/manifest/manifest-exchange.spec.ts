import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { utf8 } from '../../../../lib/base/bytes.ts'
import { MANIFEST_REQUESTS_BURST, PAGE_MAX } from '../../../../lib/base/limits/directory.ts'
import type { Manifest, SignedManifest } from '../../../../lib/interface/manifest.ts'
import { MANIFEST_REPLY, type ManifestRequest } from '../../../../lib/resolve/manifest/exchange-codec.ts'
import {
  fetchManifests,
  MANIFEST_PROTOCOL,
  serveManifests
} from '../../../../lib/resolve/manifest/manifest-exchange.ts'
import { encodeManifest } from '../../../../lib/resolve/manifest/manifest-codec.ts'
import { signManifest } from '../../../../lib/resolve/manifest/sign-manifest.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { idOf, keyOf, LinkNetwork, manifestOf, NOW, sealAs, type StubLink } from '../fixtures.ts'

const clock = manualClock(NOW)
const { signal } = new AbortController()

describe('manifest exchange', () => {
  let provider: Ed25519PrivateKey
  let network: LinkNetwork
  let server: StubLink
  let client: StubLink
  let local: SignedManifest[]

  before(async () => {
    provider = await keyOf('provider')
  })

  beforeEach(() => {
    network = new LinkNetwork()
    server = network.join('server')
    client = network.join('client')
    local = []
    serveManifests({ link: server, local: () => local, clock })
  })

  const sign = (changes: Partial<Manifest>) => signManifest(manifestOf(idOf(provider), changes), provider)
  const fetch = (request: ManifestRequest) =>
    fetchManifests({ id: 'server', addresses: [] }, request, { link: client, clock, signal })

  it('returns the requested API, or all with a name', async () => {
    const stranger = await keyOf('stranger')
    const mine = await sign({})
    const theirs = await signManifest(manifestOf(idOf(stranger)), stranger)
    local = [mine, theirs, await sign({ name: 'other' })]
    assert.deepEqual((await fetch({ name: 'ticker', provider: idOf(provider) })).manifests, [mine])
    const named = (await fetch({ name: 'ticker' })).manifests.map(({ id }) => id)
    assert.deepEqual(named.sort(), [mine.id, theirs.id].sort())
    assert.deepEqual((await fetch({ name: 'unknown' })).manifests, [])
  })

  it('shows no draft', async () => {
    local = [await sign({ state: 'draft' })]
    assert.deepEqual((await fetch({ name: 'ticker' })).manifests, [])
  })

  it('returns as many manifests of one name as fit, and none without a name', async () => {
    const api = { operations: [{ name: 'a', description: 'x'.repeat(250_000) }] }
    const keys = await Promise.all(['1', '2', '3', '4', '5', '6'].map((word) => keyOf(word)))
    local = await Promise.all(keys.map((key) => signManifest(manifestOf(idOf(key), { api }), key)))
    const { manifests } = await fetch({ name: 'ticker' })
    assert.ok(manifests.length >= 3 && manifests.length < local.length, String(manifests.length))
    assert.deepEqual((await fetch({ name: '' })).manifests, [])
  })

  it('refuses a peer that asks too often, and serves the others', async () => {
    local = [await sign({})]
    for (let n = 0; n < MANIFEST_REQUESTS_BURST; n++) await fetch({ name: 'ticker' })
    await assert.rejects(fetch({ name: 'ticker' }), { code: 'overloaded' })
    const other = { link: network.join('other'), clock, signal }
    const { manifests } = await fetchManifests({ id: 'server', addresses: [] }, { name: 'ticker' }, other)
    assert.deepEqual(manifests, local)
  })

  it('leaves out forged, expired and unrequested manifests', async () => {
    const stranger = await keyOf('stranger')
    const forged = await sealAs('manifest', encodeManifest(manifestOf(idOf(provider))), stranger)
    const expired = await sign({ issuedAt: NOW - 100, expiresAt: NOW })
    const other = await sign({ name: 'other' })
    const draft = await sign({ state: 'draft' })
    const good = await sign({})
    const envelopes = [forged, expired.envelope, other.envelope, draft.envelope, utf8('nonsense'), good.envelope]
    server.serve(MANIFEST_PROTOCOL, async () => MANIFEST_REPLY.encode({ manifests: envelopes, hasMore: false }), {
      requestBytesMax: 999
    })
    assert.deepEqual((await fetch({ name: 'ticker', provider: idOf(provider) })).manifests, [good])
  })

  it('reports a node with an invalid or too large response as unreachable', async () => {
    const crowd = Array.from({ length: PAGE_MAX + 1 }, () => utf8('x'))
    const answers = [
      utf8('nonsense'),
      MANIFEST_REPLY.encode({ manifests: crowd.slice(1), hasMore: false }),
      new Uint8Array([0x0a, 0x7f])
    ]
    const tooMany = new Uint8Array([...(answers[1] ?? []), 0x0a, 1, 0x78])
    for (const answer of [answers[0]!, answers[2]!, tooMany]) {
      server.serve(MANIFEST_PROTOCOL, async () => answer, { requestBytesMax: 999 })
      await assert.rejects(fetch({ name: 'ticker' }), { code: 'owner_unreachable' })
    }
  })
})
