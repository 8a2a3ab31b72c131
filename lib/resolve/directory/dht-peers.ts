import type { KadDHT } from '@libp2p/kad-dht'
import { pEvent } from 'p-event'
import { ignore } from '../../base/ignore.ts'

/** kad-dht has this property, but its interface does not declare it. The table dispatches `peer:add`. */
type DhtWithTable = KadDHT & { readonly routingTable: EventTarget & { readonly size: number } }

/** No peer is known: then the DHT would wait for the first one, possibly forever. */
export function isAlone(dht: KadDHT): boolean {
  return (dht as Partial<DhtWithTable>).routingTable?.size === 0
}

/** Resolves when the DHT knows a peer, or the signal aborts. */
export async function hasPeers(dht: KadDHT, signal: AbortSignal): Promise<void> {
  const { routingTable } = dht as DhtWithTable
  while (isAlone(dht) && !signal.aborted) await pEvent(routingTable, 'peer:add', { signal }).catch(ignore)
}
