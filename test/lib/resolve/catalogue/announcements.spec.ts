import assert from 'node:assert/strict'
import { sha256 } from '../../../../lib/base/bytes.ts'
import {
  ANNOUNCED_MANIFEST_BYTES_MAX,
  ANNOUNCEMENT_AGE_MS,
  ANNOUNCEMENT_BYTES_MAX,
  ANNOUNCEMENTS_PER_PEER_BURST,
  ANNOUNCEMENTS_PER_PUBLISHER_BURST,
  RECORD_TTL_MS
} from '../../../../lib/base/limits/directory.ts'
import type { Manifest, SignedManifest } from '../../../../lib/interface/manifest.ts'
import { ANNOUNCEMENT } from '../../../../lib/resolve/catalogue/catalogue-codec.ts'
import { createRecordAuthor } from '../../../../lib/resolve/directory/record-author.ts'
import { signRecord } from '../../../../lib/resolve/directory/record.ts'
import { signDelegation } from '../../../../lib/resolve/directory/delegation.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { DiscoveryBench, type DiscoveryNode } from './discovery-bench.ts'
import { idOf, keyOf, NOW, offerOf } from '../fixtures.ts'

describe('announcements', () => {
  let bench: DiscoveryBench
  let seller: DiscoveryNode
  let buyer: DiscoveryNode

  beforeEach(async () => {
    bench = new DiscoveryBench(manualClock(NOW))
    seller = await bench.add('seller')
    buyer = await bench.add('buyer')
  })

  /** The verdict of `buyer` on a message. */
  async function judged(message: Uint8Array, from = 'somebody'): Promise<string | undefined> {
    bench.hub.verdicts.length = 0
    const judge = bench.hub.members.get(buyer.link.self)
    return judge?.(message, from)
  }

  async function announcementOf(signed: SignedManifest, network = 'dev', key = seller.key): Promise<Uint8Array> {
    const author = createRecordAuthor({ privateKey: key, clock: bench.clock, network })
    return ANNOUNCEMENT.encode({ record: await author.write(offerOf(signed)), manifest: signed.envelope })
  }

  it('make a listing known to all nodes at once, without queries', async () => {
    await seller.serve({ name: 'news' })
    assert.deepEqual(bench.hub.verdicts, ['accept'])
    assert.deepEqual(await buyer.search(), ['news'])
    assert.deepEqual(seller.link.askedBy, [])
  })

  it('publish a new revision, a pause and a withdrawal', async () => {
    await seller.serve({ name: 'news', price: 1n })
    await bench.clock.advance(10)
    await seller.serve({ name: 'news', price: 2n, revision: 2 })
    const found = await buyer.catalogue.search({}, new AbortController().signal)
    assert.deepEqual(
      found.listings.map(({ manifest }) => manifest.price),
      [2n]
    )
    await seller.serve({ name: 'news', state: 'paused', revision: 3 })
    assert.deepEqual(await buyer.search(), [])
    const last = await seller.serve({ name: 'news', revision: 4 })
    assert.deepEqual(await buyer.search(), ['news'])
    await seller.announcements.withdraw(last.id, offerOf(last))
    assert.deepEqual(bench.hub.verdicts.slice(-1), ['accept'])
    assert.deepEqual(await buyer.search(), [])
    await bench.clock.advance(RECORD_TTL_MS)
    assert.equal(await buyer.index.prune(bench.clock.now()), 1)
  })

  it('of a large manifest carry its hash; nodes without the manifest query the sender', async () => {
    const input = { type: 'object', description: 'x'.repeat(ANNOUNCED_MANIFEST_BYTES_MAX) }
    const signed = await seller.serve({ name: 'large', api: { operations: [{ name: 'get', input }] } })
    assert.deepEqual(bench.hub.verdicts, ['accept'])
    await eventually('the manifest', 2_000, async () => (await buyer.index.get(signed.id)) ?? undefined)
    assert.deepEqual(await buyer.search(), ['large'])
  })

  it('are accepted from a delegated node, except withdrawals', async () => {
    const replica = await keyOf('replica')
    const delegation = await signDelegation({ peer: idOf(replica), expiresAt: NOW + 1e9 }, seller.key)
    const signed = await seller.sign({ name: 'shared' })
    const offer = { ...offerOf(signed), delegations: [delegation] }
    const author = createRecordAuthor({ privateKey: replica, clock: bench.clock, network: 'dev' })
    const record = await author.write(offer)
    assert.equal(await judged(ANNOUNCEMENT.encode({ record, manifest: signed.envelope })), 'accept')
    const end = {
      id: signed.id,
      seq: BigInt(NOW + 1),
      issuedAt: NOW,
      expiresAt: NOW + 1_000,
      manifestHash: sha256(signed.envelope),
      revision: 1,
      delegations: [delegation],
      network: 'dev',
      isWithdrawn: true
    }
    assert.equal(await judged(ANNOUNCEMENT.encode({ record: await signRecord(end, replica) })), 'reject')
    assert.deepEqual(await buyer.search(), ['shared'])
  })

  it('are not forwarded when they are known, old or expired', async () => {
    const signed = await seller.sign()
    const message = await announcementOf(signed)
    assert.equal(await judged(message), 'accept')
    assert.equal(await judged(message, 'another'), 'ignore')
    const late = await announcementOf(await seller.sign({ name: 'late' }))
    await bench.clock.advance(ANNOUNCEMENT_AGE_MS + 1)
    assert.equal(await judged(late), 'ignore')
    await bench.clock.advance(RECORD_TTL_MS)
    assert.equal(await judged(message), 'ignore')
  })

  it('count against their sender when they are forged, malformed, too large or of another network', async () => {
    const signed = await seller.sign()
    const message = await announcementOf(signed)
    const thief = await keyOf('thief')
    const forged = message.slice()
    forged[100] = (forged[100] ?? 0) ^ 1
    const stolen: Manifest = { ...signed.manifest, name: 'other' }
    const other = await seller.sign(stolen)
    const record = await createRecordAuthor({ privateKey: seller.key, clock: bench.clock, network: 'dev' }).write(
      offerOf(signed)
    )
    const bare = { ...offerOf(signed), seq: BigInt(NOW + 5), issuedAt: NOW, expiresAt: NOW + 1_000, network: 'dev' }
    const bad: Record<string, Uint8Array> = {
      'a flipped bit': forged,
      'no announcement': new Uint8Array(50).fill(7),
      nothing: new Uint8Array(0),
      'too large': new Uint8Array(ANNOUNCEMENT_BYTES_MAX + 1),
      'another network': await announcementOf(signed, 'base'),
      'another manifest': ANNOUNCEMENT.encode({ record, manifest: other.envelope }),
      'signed by a stranger': ANNOUNCEMENT.encode({ record: await signRecord(bare, thief), manifest: signed.envelope })
    }
    for (const [what, bytes] of Object.entries(bad)) assert.equal(await judged(bytes), 'reject', what)
    assert.deepEqual(await buyer.search(), [])
  })

  it('are rate-limited per peer and per publisher, without delaying others', async () => {
    const messages: Uint8Array[] = []
    for (let i = 0; i < ANNOUNCEMENTS_PER_PUBLISHER_BURST + 5; i++) {
      messages.push(await announcementOf(await seller.sign({ name: `spam-${i}` })))
    }
    const verdicts: Array<string | undefined> = []
    for (const [i, message] of messages.entries()) verdicts.push(await judged(message, `peer ${i}`))
    assert.equal(verdicts.filter((verdict) => verdict === 'accept').length, ANNOUNCEMENTS_PER_PUBLISHER_BURST)
    for (let i = 0; i < ANNOUNCEMENTS_PER_PEER_BURST; i++) await judged(new Uint8Array(9), 'flooder')
    const honest = await keyOf('honest')
    const author = await bench.add('honest')
    const good = await announcementOf(await author.sign({ name: 'useful' }), 'dev', honest)
    assert.equal(await judged(good, 'flooder'), 'ignore')
    assert.equal(await judged(good, 'modest'), 'accept')
  })
})
