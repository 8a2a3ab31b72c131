import assert from 'node:assert/strict'
import { MANIFEST_TTL_MS } from '../../../lib/base/limits/directory.ts'
import type { Manifest, SignedManifest } from '../../../lib/interface/manifest.ts'
import { createPins } from '../../../lib/resolve/pins.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { signManifest } from '../../../lib/resolve/manifest/sign-manifest.ts'
import { idOf, keyOf, manifestOf, memoryDocuments, NOW } from './fixtures.ts'

describe('pins', () => {
  async function signed(changes: Partial<Manifest>): Promise<SignedManifest> {
    const key = await keyOf('provider')
    return signManifest(manifestOf(idOf(key), changes), key)
  }

  it('reject a revision below the highest one seen, also after a restart', async () => {
    const documents = memoryDocuments()
    const pins = createPins(documents)
    const [one, two] = [await signed({ revision: 1 }), await signed({ revision: 2 })]
    assert.equal(await pins.allows(one), true)
    await pins.raise(two)
    assert.equal(await pins.allows(one), false)
    assert.equal(await pins.allows(two), true)
    assert.equal(await createPins(documents).allows(one), false)
  })

  it('reject an earlier signature of the same revision', async () => {
    const pins = createPins(memoryDocuments())
    const later = await signed({ issuedAt: NOW + 1 })
    await pins.raise(later)
    assert.equal(await pins.allows(await signed({ issuedAt: NOW })), false)
    assert.equal(await pins.allows(await signed({ issuedAt: NOW + 2 })), true)
  })

  it('never decrease, and write only changes', async () => {
    const documents = memoryDocuments()
    const pins = createPins(documents)
    const [one, two] = [await signed({ revision: 1 }), await signed({ revision: 2 })]
    await Promise.all([pins.raise(two), pins.raise(one), pins.raise(two)])
    await pins.raise(one)
    assert.equal(await createPins(documents).allows(one), false)
    const before = documents.writes.length
    await pins.raise(two)
    assert.equal(documents.writes.length, before)
  })

  it('are kept until all older manifests have expired', async () => {
    const store = createMemoryStore()
    await store.open()
    const { documents } = store
    const [one, two] = [await signed({ revision: 1, expiresAt: NOW + MANIFEST_TTL_MS }), await signed({ revision: 2 })]
    await createPins(documents).raise(two)
    await documents.sweep(NOW + MANIFEST_TTL_MS - 1, 100)
    assert.equal(await createPins(documents).allows(one), false)
    await documents.sweep(NOW + MANIFEST_TTL_MS, 100)
    assert.deepEqual(await documents.list('revisions'), [])
    await store.close()
  })

  it('are separate per API', async () => {
    const pins = createPins(memoryDocuments())
    await pins.raise(await signed({ name: 'other', revision: 9 }))
    assert.equal(await pins.allows(await signed({ revision: 1 })), true)
  })

  it('bind a name to a provider permanently', async () => {
    const documents = memoryDocuments()
    const pins = createPins(documents)
    const provider = idOf(await keyOf('provider'))
    assert.equal(await pins.provider('ticker'), undefined)
    await pins.bind('ticker', provider)
    assert.equal(await pins.provider('ticker'), provider)
    assert.equal(await createPins(documents).provider('ticker'), provider)
    await assert.rejects(pins.bind('ticker', 'nobody'), { code: 'invalid_request' })
    await assert.rejects(pins.bind('Ticker', provider), { code: 'invalid_request' })
  })
})
