import { type ConnectionGater, isPeerId, type PeerId } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Clock } from '../../base/clock.ts'
import { ignore } from '../../base/ignore.ts'
import { AddressRace } from './address-race.ts'
import type { DialOptions } from './dial-progress.ts'
import { withPeer } from './with-peer.ts'

interface StaggeredDialsComponents {
  readonly connectionManager: ConnectionManager
  readonly transportManager: TransportManager
  readonly connectionGater: ConnectionGater
}

/**
 * A libp2p service that changes all dials of the connection manager: of calls, lookups, relays and bootstrap peers.
 * libp2p's queue still resolves, filters, sorts and shares them. It would then dial one address after the other, and a
 * silent one takes `DIAL_ADDRESS_MS`. With this service an `AddressRace` dials them.
 */
export function staggeredDials({ clock }: { readonly clock: Clock }): (components: StaggeredDialsComponents) => object {
  return ({ connectionManager, transportManager, connectionGater }) => {
    const load = { dials: 0 }
    /** Keyed by the objects that libp2p reports and then dials. Other dials of the same address are not changed. */
    const races = new WeakMap<Multiaddr, AddressRace>()
    const running = new Map<string, AddressRace>()
    const open = connectionManager.openConnection.bind(connectionManager)
    const dial = transportManager.dial.bind(transportManager)

    transportManager.dial = async (address, options) =>
      races.get(address)?.run(address, { signal: NEVER, ...(options as Partial<DialOptions>) }) ??
      dial(address, options)

    connectionManager.openConnection = async (target, options = {}) => {
      const id = idOf(target)
      const peer = id ?? [target].flat().join()
      const joined = running.get(peer)
      const race = joined ?? new AddressRace({ clock, load, dial })
      // libp2p would dial the addresses of a second caller only after those of the first have failed.
      if (joined === undefined) running.set(peer, race)
      // The caller's own dial reports an address that cannot be dialled.
      else if (!isPeerId(target)) allowed([target].flat(), id).then((addresses) => joined.add(addresses), ignore)
      try {
        return await open(target, {
          ...options,
          // Without it, libp2p aborts the connection of this dial if another dial of the same address was faster, for
          // example one that checks it. By then the connection may have streams.
          force: options.force ?? (id !== undefined && !isConnected(id)),
          onProgress(event) {
            if (event.type === 'dial-queue:calculated-addresses') enter(race, event.detail)
            options.onProgress?.(event)
          }
        })
      } finally {
        if (running.get(peer) === race) running.delete(peer)
      }
    }

    /** libp2p then returns this connection. */
    const isConnected = (id: string) =>
      connectionManager
        .getConnections(peerIdFromString(id))
        .some(({ status, limits }) => status === 'open' && limits === undefined)

    /** libp2p reports the addresses to all callers that share a dial. The race of the first one dials them. */
    function enter(race: AddressRace, addresses: ReadonlyArray<{ readonly multiaddr: Multiaddr }>): void {
      const entered = addresses.map(({ multiaddr }) => multiaddr).filter((address) => !races.has(address))
      for (const address of entered) races.set(address, race)
      race.add(entered)
    }

    async function allowed(addresses: readonly Multiaddr[], id: string | undefined): Promise<Multiaddr[]> {
      const found: Multiaddr[] = []
      for (const address of addresses) {
        if (transportManager.dialTransportForMultiaddr(address) === undefined) continue
        if ((await connectionGater.denyDialMultiaddr?.(address)) === true) continue
        found.push(id === undefined ? address : withPeer(address, id))
      }
      return found
    }

    return {}
  }
}

const NEVER = new AbortController().signal

function idOf(target: PeerId | Multiaddr | Multiaddr[]): string | undefined {
  if (isPeerId(target)) return target.toString()
  const ids = [target].flat().map((address) => address.getComponents().findLast(({ name }) => name === 'p2p')?.value)
  return ids.find((id) => id !== undefined)
}
