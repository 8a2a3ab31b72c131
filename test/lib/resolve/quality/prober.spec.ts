import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { SoukError } from '../../../../lib/base/errors.ts'
import {
  PROBE_AGAIN_MS,
  PROBE_INTEREST_MS,
  PROBE_PAUSE_MS,
  RESOLUTION_FRESH_MS
} from '../../../../lib/base/limits/directory.ts'
import type { SignedManifest } from '../../../../lib/interface/manifest.ts'
import { serveManifests } from '../../../../lib/resolve/manifest/manifest-exchange.ts'
import { Prober } from '../../../../lib/resolve/quality/prober.ts'
import { signManifest } from '../../../../lib/resolve/manifest/sign-manifest.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { idOf, keyOf, LinkNetwork, manifestOf, NOW, seededRandom, type StubLink } from '../fixtures.ts'

describe('a node that probes', () => {
  let key: Ed25519PrivateKey
  let signed: SignedManifest
  let clock: ReturnType<typeof manualClock>
  let owner: StubLink
  let self: StubLink
  let prober: Prober
  /** The result of a lookup that fails. */
  let lost: SoukError | undefined

  before(async () => {
    key = await keyOf('provider')
  })
  beforeEach(async () => {
    clock = manualClock(NOW)
    signed = await signManifest(manifestOf(idOf(key)), key)
    const network = new LinkNetwork()
    owner = network.join('owner')
    self = network.join('self')
    self.connected = [{ id: 'owner', addresses: [] }]
    serveManifests({ link: owner, local: () => [signed], clock })
    lost = undefined
    prober = new Prober({
      link: self,
      clock,
      random: seededRandom(),
      resolve: async () => {
        if (lost !== undefined) throw lost
        return { signed, owners: [{ id: 'owner', addresses: [] }] }
      }
    })
    prober.start()
  })
  afterEach(() => prober.stop())

  const round = () => clock.advance(2 * PROBE_PAUSE_MS)
  const again = () => clock.advance(PROBE_AGAIN_MS + 2 * PROBE_PAUSE_MS)

  it('probes only APIs that somebody here used', async () => {
    await again()
    assert.deepEqual(owner.askedBy, [])
    assert.equal(prober.of(signed.id), undefined)
  })

  it('reports whether the owner was reachable, and when', async () => {
    prober.want(signed.id)
    await round()
    const first = prober.of(signed.id)
    assert.deepEqual([Math.round(first?.probes ?? 0), first?.reachedRate], [1, 1])
    assert.ok((first?.lastAt ?? 0) > NOW && (first?.lastAt ?? Infinity) <= clock.now())
    owner.mood = 'refuses'
    await again()
    const second = prober.of(signed.id)
    assert.ok(Math.abs((second?.reachedRate ?? 0) - 0.5) < 0.01, String(second?.reachedRate))
    assert.equal(first === undefined || second === undefined ? false : second.lastAt > first.lastAt, true)
  })

  it('counts an API that no node serves any more as unreachable', async () => {
    prober.want(signed.id)
    lost = new SoukError('owner_unreachable')
    await round()
    assert.equal(prober.of(signed.id)?.reachedRate, 0)
    assert.deepEqual(owner.askedBy, [])
  })

  it('counts nothing while it is offline or too busy', async () => {
    prober.want(signed.id)
    self.connected = []
    await again()
    assert.equal(prober.of(signed.id), undefined)
    self.connected = [{ id: 'owner', addresses: [] }]
    lost = new SoukError('lookup_timeout')
    await again()
    assert.equal(prober.of(signed.id), undefined)
  })

  it('probes one API at a time, each rarely, and stops after a while', async () => {
    assert.ok(PROBE_AGAIN_MS > RESOLUTION_FRESH_MS)
    const apis = Array.from({ length: 40 }, (_, i) => `api-${i}@${idOf(key)}` as const)
    for (const api of apis) prober.want(api)
    const start = clock.now()
    await clock.advance(PROBE_INTEREST_MS)
    const rounds = (clock.now() - start) / PROBE_PAUSE_MS
    assert.ok(owner.askedBy.length <= rounds * 1.1 && owner.askedBy.length >= rounds * 0.9)
    const asked = owner.askedBy.length
    await clock.advance(PROBE_INTEREST_MS)
    assert.ok(owner.askedBy.length - asked <= 1, `${owner.askedBy.length - asked} more`)
  })
})
