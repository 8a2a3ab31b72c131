import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { utf8 } from '../../../lib/base/bytes.ts'
import { PAGE_MAX } from '../../../lib/base/limits.ts'
import type { Manifest, SignedManifest } from '../../../lib/interface/manifest.ts'
import { encodeManifestReply } from '../../../lib/resolve/exchange-codec.ts'
import { fetchManifests, MANIFEST_PROTOCOL, serveManifests } from '../../../lib/resolve/manifest-exchange.ts'
import { encodeManifest } from '../../../lib/resolve/manifest-codec.ts'
import { signManifest } from '../../../lib/resolve/sign-manifest.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { idOf, keyOf, LinkNetwork, manifestOf, NOW, sealAs, type StubLink } from './fixtures.ts'

const clock = manualClock(NOW)
const { signal } = new AbortController()

describe('manifest exchange', () => {
  let provider: Ed25519PrivateKey
  let server: StubLink
  let client: StubLink
  let local: SignedManifest[]

  before(async () => {
    provider = await keyOf('provider')
  })

  beforeEach(() => {
    const network = new LinkNetwork()
    server = network.join('server')
    client = network.join('client')
    local = []
    serveManifests({ link: server, local: () => local })
  })

  const sign = (changes: Partial<Manifest>) => signManifest(manifestOf(idOf(provider), changes), provider)
  const fetch = (request: object) =>
    fetchManifests({ id: 'server', addresses: [] }, request, { link: client, clock, signal })

  it('gives the API that is asked for, or all of a name', async () => {
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
    assert.deepEqual((await fetch({})).manifests, [])
  })

  it('shows everything in pages, each listing once, however large', async () => {
    const names = Array.from({ length: PAGE_MAX + 20 }, (_, i) => `api-${i}`)
    local = await Promise.all(names.map((name) => sign({ name })))
    const large = { operations: [{ name: 'a', description: 'x'.repeat(250_000) }] }
    local.push(...(await Promise.all(['l1', 'l2', 'l3', 'l4', 'l5', 'l6'].map((name) => sign({ name, api: large })))))
    const shown: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const { manifests, next } = await fetch(cursor === undefined ? {} : { cursor })
      shown.push(...manifests.map(({ id }) => id))
      cursor = next
      pages++
    } while (cursor !== undefined && pages < 10)
    assert.deepEqual(shown, local.map(({ id }) => id).sort())
    assert.ok(pages >= 3)
  })

  it('leaves out what is forged, expired or was not asked for', async () => {
    const stranger = await keyOf('stranger')
    const forged = await sealAs('manifest', encodeManifest(manifestOf(idOf(provider))), stranger)
    const expired = await sign({ issuedAt: NOW - 100, expiresAt: NOW })
    const other = await sign({ name: 'other' })
    const draft = await sign({ state: 'draft' })
    const good = await sign({})
    const envelopes = [forged, expired.envelope, other.envelope, draft.envelope, utf8('nonsense'), good.envelope]
    server.serve(MANIFEST_PROTOCOL, async () => encodeManifestReply({ manifests: envelopes }), { requestBytesMax: 999 })
    assert.deepEqual((await fetch({ name: 'ticker', provider: idOf(provider) })).manifests, [good])
  })

  it('says that a node that answers nonsense, or too many, could not be asked', async () => {
    const crowd = Array.from({ length: PAGE_MAX + 1 }, () => utf8('x'))
    const answers = [utf8('nonsense'), encodeManifestReply({ manifests: crowd.slice(1) }), new Uint8Array([0x0a, 0x7f])]
    const tooMany = new Uint8Array([...(answers[1] ?? []), 0x0a, 1, 0x78])
    for (const answer of [answers[0]!, answers[2]!, tooMany]) {
      server.serve(MANIFEST_PROTOCOL, async () => answer, { requestBytesMax: 999 })
      await assert.rejects(fetch({}), { code: 'owner_unreachable' })
    }
  })
})
