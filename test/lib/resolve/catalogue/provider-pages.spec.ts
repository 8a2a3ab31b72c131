import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { PAGE_MAX } from '../../../../lib/base/limits/directory.ts'
import type { ListingQuery } from '../../../../lib/interface/listing-index.ts'
import type { Manifest, SignedManifest } from '../../../../lib/interface/manifest.ts'
import { ProviderPages } from '../../../../lib/resolve/catalogue/provider-pages.ts'
import { serveManifests } from '../../../../lib/resolve/manifest/manifest-exchange.ts'
import { signManifest } from '../../../../lib/resolve/manifest/sign-manifest.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { idOf, keyOf, LinkNetwork, manifestOf, NOW } from '../fixtures.ts'

const APIS = 2 * PAGE_MAX + 50
const { signal } = new AbortController()
const nodes = [
  { id: 'away', addresses: [] },
  { id: 'owner', addresses: [] }
]

describe('the listings of a provider', () => {
  let key: Ed25519PrivateKey
  let provider: string
  let all: SignedManifest[]
  let pages: ProviderPages
  let local: () => Iterable<SignedManifest>

  const sign = (changes: Partial<Manifest>) => signManifest(manifestOf(provider, changes), key)
  const read = (query: Partial<ListingQuery> = {}, of = nodes) =>
    pages.read(of, provider, { terms: [], sort: 'relevance', limit: PAGE_MAX, now: NOW, ...query }, signal)
  const names = (found: { readonly manifests: readonly SignedManifest[] } | undefined) =>
    found?.manifests.map(({ manifest }) => manifest.name)

  before(async () => {
    key = await keyOf('provider')
    provider = idOf(key)
    all = await Promise.all(Array.from({ length: APIS }, (_, at) => sign({ name: `a-${at}`, tags: [`tag${at % 2}`] })))
  })
  beforeEach(() => {
    const network = new LinkNetwork()
    local = () => all
    const clock = manualClock(NOW)
    serveManifests({ link: network.join('owner'), local: () => local(), clock })
    pages = new ProviderPages({ link: network.join('reader'), clock })
  })

  it('are all read, by name, from the first node that responds', async () => {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const page = await read(cursor === undefined ? {} : { cursor })
      found.push(...(names(page) ?? assert.fail('no node responded')))
      cursor = page?.next
    } while (cursor !== undefined)
    assert.deepEqual(found, all.map(({ manifest }) => manifest.name).toSorted())
  })

  it('are filtered as a search is, over several pages', async () => {
    const last = await sign({ name: 'z', description: 'Weather of towns', protocol: 'SOAP', price: 1n, tags: ['x'] })
    local = () => [...all, last]
    for (const query of [{ terms: ['weath'] }, { protocol: 'soap' }, { maxPrice: 1n }, { tag: 'X' }])
      assert.deepEqual(names(await read(query)), ['z'])
  })

  it('do not include drafts, paused APIs and those of others', async () => {
    const other = await keyOf('other')
    const foreign = await signManifest(manifestOf(idOf(other), { name: 'foreign' }), other)
    local = () => [...hidden, foreign]
    const hidden = [await sign({ name: 'draft', state: 'draft' }), await sign({ name: 'paused', state: 'paused' })]
    assert.deepEqual(await read(), { manifests: [] })
  })

  it('are unknown where no node responds', async () => {
    assert.equal(await read({}, [{ id: 'away', addresses: [] }]), undefined)
  })
})
