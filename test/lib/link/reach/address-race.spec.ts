import assert from 'node:assert/strict'
import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import {
  DIAL_ADDRESS_MS,
  DIAL_STAGGER_MS,
  DIALLED_ADDRESSES_MAX,
  DIALS_PER_PEER_MAX
} from '../../../../lib/base/limits/link.ts'
import { UNUSED_CONNECTION_MS } from '../../../../lib/base/limits/reach.ts'
import { AddressRace } from '../../../../lib/link/reach/address-race.ts'
import type { OnProgress } from '../../../../lib/link/reach/dial-progress.ts'
import { type ManualClock, manualClock, settle } from '../../../helpers/manual-clock.ts'

const RELAY = '12D3KooWGzBXaNVfmBaXU1QfLhKiCWUrNCtCSSqPKK6K7EyLQ4kZ'

describe('AddressRace', () => {
  let clock: ManualClock
  let load: { dials: number }
  let dials: Map<string, PromiseWithResolvers<Connection>>
  let race: AddressRace
  let progress: Map<string, OnProgress>

  const run = (...addresses: readonly string[]) => {
    const [first, ...others] = addresses.map((address) => multiaddr(address))
    race.add([first!, ...others])
    return race.run(first!, { signal: new AbortController().signal })
  }
  const dialled = () => [...dials.keys()]
  const fail = async (address: string) => {
    dials.get(address)?.reject(new Error(`${address} failed`))
    await settle()
  }
  const v4 = (last: number) => `/ip4/11.1.1.${last}/tcp/1`
  const v6 = (last: number) => `/ip6/2a00::${last}/tcp/1`

  beforeEach(() => {
    clock = manualClock()
    load = { dials: 0 }
    dials = new Map()
    progress = new Map()
    race = new AddressRace({
      clock,
      load,
      dial(address, { signal, onProgress }) {
        const dial = Promise.withResolvers<Connection>()
        dials.set(address.toString(), dial)
        if (onProgress !== undefined) progress.set(address.toString(), onProgress)
        signal.addEventListener('abort', () => dial.reject(signal.reason))
        return dial.promise
      }
    })
  })

  it('alternates between IPv6 and IPv4, a moment apart', async () => {
    const result = run(v6(1), v6(2), v6(3), v4(1))
    assert.deepEqual(dialled(), [v6(1)])
    await clock.advance(DIAL_STAGGER_MS - 1)
    assert.equal(dials.size, 1)
    await clock.advance(1)
    assert.deepEqual(dialled(), [v6(1), v4(1)])
    const won = {} as Connection
    dials.get(v4(1))!.resolve(won)
    assert.equal(await result, won)
    await clock.advance(DIAL_ADDRESS_MS)
    assert.equal(dials.size, 2)
    assert.deepEqual([load.dials, clock.pending], [0, 0])
  })

  it('dials the next address as soon as one fails, and gives each its own time', async () => {
    const result = run(v4(1), v4(2))
    await fail(v4(1))
    assert.deepEqual(dialled(), [v4(1), v4(2)])
    const rejected = assert.rejects(result, /11.1.1.1.* failed/)
    await clock.advance(DIAL_ADDRESS_MS)
    await rejected
    assert.equal(clock.pending, 0)
  })

  it('gives an address that has connected its time again, once', async () => {
    const heard: string[] = []
    race.add([multiaddr(v4(1))])
    const { signal } = new AbortController()
    const result = race.run(multiaddr(v4(1)), { signal, onProgress: ({ type }) => void heard.push(type as string) })
    const rejected = assert.rejects(result, /the dial timed out/)
    await clock.advance(DIAL_ADDRESS_MS - 1)
    progress.get(v4(1))!({ type: 'upgrader:encrypt-outbound-connection', detail: undefined })
    await clock.advance(DIAL_ADDRESS_MS - 1)
    assert.equal(load.dials, 1)
    await clock.advance(1)
    await rejected
    assert.deepEqual([load.dials, clock.pending], [0, 0])
    assert.deepEqual(heard, ['upgrader:encrypt-outbound-connection'])
  })

  describe('where a second address connects at the same moment', () => {
    let streams: object[]
    let first: { status: string }
    let second: { status: string; streams: object[]; close: () => Promise<void> }

    beforeEach(async () => {
      streams = []
      first = { status: 'open' }
      second = { status: 'open', streams, close: async () => void (second.status = 'closed') }
      const result = run(v4(1), v4(2))
      await clock.advance(DIAL_STAGGER_MS)
      dials.get(v4(1))!.resolve(first as Connection)
      dials.get(v4(2))!.resolve(second as unknown as Connection)
      assert.equal(await result, first)
    })
    afterEach(() => assert.equal(clock.pending, 0))

    it('closes the second connection', async () => {
      await clock.advance(UNUSED_CONNECTION_MS)
      assert.equal(second.status, 'closed')
    })

    it('keeps it until it carries no stream any more', async () => {
      streams.push({})
      await clock.advance(3 * UNUSED_CONNECTION_MS)
      assert.equal(second.status, 'open')
      streams.pop()
      await clock.advance(UNUSED_CONNECTION_MS)
      assert.equal(second.status, 'closed')
    })

    it('keeps it where the first one has closed', async () => {
      first.status = 'closed'
      await clock.advance(UNUSED_CONNECTION_MS)
      assert.equal(second.status, 'open')
    })
  })

  it('dials relayed addresses after the direct ones have failed', async () => {
    const circuit = `${v4(9)}/p2p/${RELAY}/p2p-circuit`
    const result = run(circuit, v4(1), v4(2))
    await clock.advance(4 * DIAL_STAGGER_MS)
    assert.deepEqual(dialled(), [v4(1), v4(2)])
    await fail(v4(1))
    assert.equal(dials.size, 2)
    await fail(v4(2))
    assert.deepEqual(dialled(), [v4(1), v4(2), circuit])
    const won = {} as Connection
    dials.get(circuit)!.resolve(won)
    assert.equal(await result, won)
  })

  it('dials at most the addresses that one peer may have', async () => {
    const result = run(...Array.from({ length: 2 * DIALS_PER_PEER_MAX }, (_, n) => v4(n)))
    const rejected = assert.rejects(result)
    await clock.advance(2 * DIALS_PER_PEER_MAX * DIAL_STAGGER_MS + DIAL_ADDRESS_MS)
    await rejected
    assert.equal(dials.size, DIALS_PER_PEER_MAX)
  })

  it('dials one address after the other while all peers together have too many', async () => {
    load.dials = DIALLED_ADDRESSES_MAX - 1
    const result = run(v4(1), v4(2), v4(3))
    await clock.advance(4 * DIAL_STAGGER_MS)
    assert.deepEqual(dialled(), [v4(1)])
    await fail(v4(1))
    assert.deepEqual(dialled(), [v4(1), v4(2)])
    load.dials -= 1
    await clock.advance(DIAL_STAGGER_MS)
    assert.deepEqual(dialled(), [v4(1), v4(2), v4(3)])
    dials.get(v4(3))!.resolve({} as Connection)
    await result
  })

  it('dials an address that is added when all others are silent', async () => {
    const result = run(v4(1))
    await clock.advance(2 * DIAL_STAGGER_MS)
    race.add([multiaddr(v4(1)), multiaddr(v4(2))])
    assert.deepEqual(dialled(), [v4(1), v4(2)])
    dials.get(v4(2))!.resolve({} as Connection)
    await result
  })
})
