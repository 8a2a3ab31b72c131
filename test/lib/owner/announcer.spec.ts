import assert from 'node:assert/strict'
import { once } from 'node:events'
import { apiId } from '../../../lib/base/api-name.ts'
import {
  ANNOUNCE_MOVED_MS,
  ANNOUNCE_MS,
  ANNOUNCE_RETRY_MS,
  ANNOUNCE_RETURNED_MS,
  LOOKUP_MS,
  RECORD_REPUT_MS
} from '../../../lib/base/limits/directory.ts'
import type { Offer, Published } from '../../../lib/interface/directory.ts'
import type { SignedManifest } from '../../../lib/interface/manifest.ts'
import { Announcer } from '../../../lib/owner/announcer.ts'
import { nextEpoch } from '../../../lib/owner/epoch.ts'
import { peerId } from '../../helpers/call-record.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'
import { emptyDirectory, manifestOf, memoryDocuments } from '../resolve/fixtures.ts'

const PROVIDER = peerId('P')
const signedOf = (name: string, revision = 1): SignedManifest => ({
  id: apiId(name, PROVIDER),
  manifest: manifestOf(PROVIDER, { name, revision }),
  envelope: new Uint8Array([revision])
})

describe('Announcer', () => {
  let clock: ManualClock
  let announcer: Announcer
  let told: string[]
  let errors: unknown[]
  let rounds: number
  let publish: (offer: Offer, signal: AbortSignal) => Promise<Published>
  let ready: (signal: AbortSignal) => Promise<void>
  let reachable: () => Promise<void>
  const round = async () => {
    rounds++
  }

  beforeEach(() => {
    clock = manualClock()
    told = []
    errors = []
    rounds = 0
    publish = async () => ({ asked: 3, stored: 3 })
    ready = async () => {}
    reachable = async () => {}
    const directory = {
      ...emptyDirectory({
        publish: (offer, signal) => {
          told.push(`${offer.id.split('@')[0]} ${offer.revision}`)
          return publish(offer, signal)
        },
        withdraw: async (id) => void told.push(`not ${id.split('@')[0]}`)
      }),
      ready: (signal: AbortSignal) => ready(signal)
    }
    announcer = new Announcer({
      clock,
      directory,
      onError: (error) => errors.push(error),
      reachable: () => reachable()
    })
  })
  afterEach(() => {
    announcer.stop()
    assert.equal(clock.pending, 0, 'a timer is left over')
  })

  it('announces at once, and stores the result', async () => {
    const { id } = signedOf('a')
    assert.equal(announcer.published(id), undefined)
    await announcer.announce(signedOf('a'), [])
    assert.deepEqual([told, announcer.published(id)], [['a 1'], { asked: 3, stored: 3 }])
  })

  it('announces only the provider’s own delegations', async () => {
    const offers: Offer[] = []
    publish = async (offer) => {
      offers.push(offer)
      return { asked: 0, stored: 0 }
    }
    const delegation = { provider: PROVIDER, peer: peerId('D'), expiresAt: 1, envelope: new Uint8Array() }
    await announcer.announce(signedOf('a'), [delegation, { ...delegation, provider: peerId('X') }])
    assert.deepEqual(offers[0]?.delegations, [delegation])
  })

  it('waits for a lookup’s time at most; the announcement continues with its own limit', async () => {
    let given: AbortSignal | undefined
    publish = (_offer, signal) => {
      given = signal
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    let isOver = false
    const announcing = announcer.announce(signedOf('a'), []).then(() => {
      isOver = true
    })
    await clock.advance(LOOKUP_MS - 1)
    assert.equal(isOver, false)
    await clock.advance(1)
    await announcing
    assert.equal(given?.aborted, false)
    await clock.advance(ANNOUNCE_MS - LOOKUP_MS)
    assert.deepEqual([given?.aborted, errors.length], [true, 1])
  })

  it('survives a directory that fails', async () => {
    publish = async () => Promise.reject(new Error('no network'))
    await announcer.announce(signedOf('a'), [])
    assert.equal(errors.length, 1)
    assert.equal(announcer.published(signedOf('a').id), undefined)
  })

  it('announces every current listing again in each round, and no withdrawn one', async () => {
    announcer.start(round)
    for (const name of ['a', 'b', 'c']) await announcer.announce(signedOf(name), [])
    await announcer.announce(signedOf('b', 2), [])
    await announcer.withdraw(signedOf('c').id)
    told.length = 0
    await clock.advance(RECORD_REPUT_MS)
    assert.deepEqual([told, rounds], [['a 1', 'b 2'], 1])
    await clock.advance(RECORD_REPUT_MS)
    assert.deepEqual([told.length, rounds], [4, 2])
  })

  it('continues its rounds after a failed one, and announces what could not be renewed', async () => {
    announcer.start(async () => {
      rounds++
      throw new Error('the disk is full')
    })
    await announcer.announce(signedOf('a'), [])
    await clock.advance(2 * RECORD_REPUT_MS)
    assert.deepEqual([rounds, errors.length], [2, 2])
    assert.deepEqual(told, ['a 1', 'a 1', 'a 1'])
  })

  it('stops, even during a round', async () => {
    const goOn = Promise.withResolvers<void>()
    announcer.start(() => goOn.promise)
    await clock.advance(RECORD_REPUT_MS)
    announcer.stop()
    goOn.resolve()
    await settle()
    assert.equal(clock.pending, 0)
  })

  it('announces all again when a peer came back, but not for each of them', async () => {
    await announcer.announce(signedOf('a'), [])
    told.length = 0
    for (let peer = 0; peer < 3; peer++) {
      announcer.peerReturned()
      await clock.advance(ANNOUNCE_MOVED_MS)
    }
    assert.deepEqual(told, ['a 1'])
    await clock.advance(ANNOUNCE_RETURNED_MS)
    announcer.peerReturned()
    await clock.advance(ANNOUNCE_MOVED_MS)
    assert.deepEqual(told, ['a 1', 'a 1'])
  })

  it('waits until peers can reach this node', async () => {
    const isReached = Promise.withResolvers<void>()
    reachable = () => isReached.promise
    const announcing = announcer.announce(signedOf('a'), [])
    await settle()
    assert.deepEqual(told, [])
    isReached.resolve()
    await announcing
    assert.deepEqual(told, ['a 1'])
  })

  it('waits for that too when its addresses changed, because it may have lost all of them', async () => {
    await announcer.announce(signedOf('a'), [])
    told.length = 0
    const isReached = Promise.withResolvers<void>()
    reachable = () => isReached.promise
    announcer.addressesChanged()
    await clock.advance(ANNOUNCE_MOVED_MS)
    assert.deepEqual(told, [])
    isReached.resolve()
    await settle()
    assert.deepEqual(told, ['a 1'])
  })

  it('repeats unheard announcements when the first peer connects, and no others', async () => {
    await announcer.announce(signedOf('heard'), [])
    const isReady = Promise.withResolvers<void>()
    ready = () => isReady.promise
    publish = async () => ({ asked: 0, stored: 0 })
    await announcer.announce(signedOf('alone'), [])
    told.length = 0
    publish = async () => ({ asked: 1, stored: 1 })
    announcer.peerJoined()
    announcer.peerJoined()
    await settle()
    assert.deepEqual(told, [])
    isReady.resolve()
    await settle()
    assert.deepEqual(told, ['alone 1'])
    announcer.peerJoined()
    await clock.advance(ANNOUNCE_RETRY_MS)
    assert.deepEqual(told, ['alone 1'])
  })

  for (const [what, first] of [
    ['whose name no peer stored', async () => ({ asked: 2, stored: 2, hintsLost: 1 })],
    ['that failed', async () => Promise.reject(new Error('no network'))]
  ] as const) {
    it(`repeats an announcement ${what}`, async () => {
      publish = first
      await announcer.announce(signedOf('a'), [])
      publish = async () => ({ asked: 2, stored: 2 })
      for (let i = 0; i < 4; i++) await clock.advance(ANNOUNCE_RETRY_MS)
      assert.deepEqual(told, ['a 1', 'a 1'])
    })
  }

  it('renews a refused announcement before it repeats it, because the clock may have been wrong for a moment', async () => {
    announcer.start(() => announcer.announce(signedOf('a', 2), []))
    publish = async ({ revision }) => ({ asked: 2, stored: revision === 1 ? 0 : 2 })
    await announcer.announce(signedOf('a', 1), [])
    await clock.advance(ANNOUNCE_RETRY_MS)
    assert.deepEqual(told, ['a 1', 'a 2'])
  })

  it('repeats unheard announcements when the directory gets its first peer, long after that peer connected', async () => {
    const known = Promise.withResolvers<void>()
    ready = (signal) => Promise.race([known.promise, once(signal, 'abort').then(() => undefined)])
    publish = async () => ({ asked: 0, stored: 0 })
    announcer.peerJoined()
    await announcer.announce(signedOf('a'), [])
    await announcer.announce(signedOf('b'), [])
    await clock.advance(RECORD_REPUT_MS)
    assert.deepEqual(told, ['a 1', 'b 1'])
    publish = async () => ({ asked: 1, stored: 1 })
    known.resolve()
    await settle()
    assert.deepEqual(told, ['a 1', 'b 1', 'a 1', 'b 1'])
  })

  it('does not try again after an announcement that fails when it has stopped', async () => {
    const refused = Promise.withResolvers<Published>()
    publish = () => refused.promise
    const announcing = announcer.announce(signedOf('a'), [])
    await settle()
    announcer.stop()
    refused.resolve({ asked: 2, stored: 0 })
    await announcing
    assert.equal(clock.pending, 0)
  })

  it('retries with growing pauses while all peers refuse', async () => {
    publish = async () => ({ asked: 2, stored: 0 })
    await announcer.announce(signedOf('a'), [])
    const counts: number[] = []
    for (let i = 0; i < 4; i++) {
      await clock.advance(ANNOUNCE_RETRY_MS)
      counts.push(told.length)
    }
    assert.deepEqual(counts, [2, 2, 3, 3])
    announcer.peerJoined()
    await settle()
    assert.equal(told.length, 3)
    await clock.advance(2 * RECORD_REPUT_MS)
    assert.ok(told.length < 20)
  })
})

describe('nextEpoch', () => {
  it('increases with every start, even if the clock was set back or has fractions', async () => {
    const documents = memoryDocuments()
    const times = [1_000, 999.5, 10, 2_000.25]
    const epochs: bigint[] = []
    for (const now of times) epochs.push(await nextEpoch(documents, { ...manualClock(), now: () => now }))
    assert.deepEqual(epochs, [1_000n, 1_001n, 1_002n, 2_000n])
  })
})
