import type { KadDHT } from '@libp2p/kad-dht'
import type { Random } from '../../base/random.ts'
import { isAlone } from './dht-peers.ts'

const KEY_BYTES = 32

/**
 * Asks the DHT for the peers nearest to a random key. A query connects this node to each peer that it asks.
 * @throws the signal's reason, or the query's error
 */
export async function meetPeers(dht: KadDHT, random: Random, signal: AbortSignal): Promise<void> {
  // Without any peer the query would wait for the first one.
  if (isAlone(dht)) return
  for await (const _ of dht.getClosestPeers(random.fill(new Uint8Array(KEY_BYTES)), { signal })) signal.throwIfAborted()
}
