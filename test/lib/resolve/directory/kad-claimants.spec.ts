import assert from 'node:assert/strict'
import { once } from 'node:events'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { PeerId } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { DHT_SILENCE_MS_MIN, PROVIDERS_AT_FIRST_MAX } from '../../../../lib/base/limits/directory.ts'
import { createKadDirectory } from '../../../../lib/resolve/directory/kad-directory.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'
import { keyOf } from '../fixtures.ts'

const ids = (count: number): Promise<PeerId[]> =>
  Promise.all(Array.from({ length: count }, async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))))

describe('the claimants of a name that many claim', () => {
  /** What `claimants` has named after each response, if the next one never comes. */
  async function namedAfter(responses: ReadonlyArray<readonly PeerId[]>, pauses: number): Promise<string[]> {
    const clock = manualClock()
    const stop = new AbortController()
    const findProviders = async function* () {
      for (const each of responses) {
        const providers = each.map((id) => ({ id, multiaddrs: [] }))
        yield { name: 'PEER_RESPONSE', providers }
        yield { name: 'PROVIDER', providers }
      }
      await once(stop.signal, 'abort')
    }
    const dht = { findProviders } as unknown as KadDHT
    const directory = createKadDirectory({ dht, privateKey: await keyOf('node'), clock })
    const named: string[] = []
    const ended = (async () => {
      for await (const { id } of directory.claimants('popular', stop.signal)) named.push(id)
    })()
    await settle()
    for (let i = 0; i < pauses; i++) await clock.advance(DHT_SILENCE_MS_MIN)
    const soFar = [...named]
    stop.abort()
    await ended
    return soFar
  }

  it('are named a few of each response at first', async () => {
    const many = await ids(20)
    assert.equal((await namedAfter([many], 0)).length, PROVIDERS_AT_FIRST_MAX)
    const twice = await namedAfter([many, many], 0)
    assert.equal(new Set(twice).size, 2 * PROVIDERS_AT_FIRST_MAX)
    assert.equal(twice.length, 2 * PROVIDERS_AT_FIRST_MAX)
  })

  it('are named all while peers are silent, each once', async () => {
    const many = await ids(20)
    const named = await namedAfter([many, many.slice(0, 3)], 4)
    assert.deepEqual(named.toSorted(), many.map(String).toSorted())
  })
})
