import type { Libp2pEvents, Startable } from '@libp2p/interface'
import type { AddressManager, ConnectionManager } from '@libp2p/interface-internal'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { TypedEventTarget } from 'main-event'
import type { Clock, Timer } from '../base/clock.ts'
import { INTERFACES_CHECK_MS } from '../base/limits/link.ts'
import { probeConnection } from './probe-connection.ts'
import { isCircuit } from './reach/is-relayed.ts'

interface InterfaceAddressesComponents {
  readonly addressManager: AddressManager
  readonly connectionManager: ConnectionManager
  readonly events: TypedEventTarget<Libp2pEvents>
}

/**
 * A libp2p service that confirms the addresses of this machine's own interfaces. By default libp2p does not announce a
 * public address until a peer has dialled it (AutoNAT). An interface address needs no such proof. If a firewall blocks
 * it, peers try another address.
 *
 * Interfaces change while the node runs, so it checks every `INTERFACES_CHECK_MS`. Connections of an address that is
 * gone are dead, and no packet says so.
 */
export function interfaceAddresses(init: {
  readonly clock: Clock
}): (components: InterfaceAddressesComponents) => Startable {
  return ({ addressManager, connectionManager, events }) => {
    let vouchedFor = new Set<string>()
    let timer: Timer | undefined

    function check(): void {
      const found = new Set(transportAddresses(addressManager).filter(isOfInterface).map(String))
      const gone = [...vouchedFor].filter((address) => !found.has(address))
      vouchedFor = found
      for (const address of gone) addressManager.removeObservedAddr(multiaddr(address))
      // Each time, and last: libp2p withdraws all addresses of the same host and port at once.
      for (const address of found) addressManager.confirmObservedAddr(multiaddr(address), { type: 'transport' })
      if (gone.length === 0) return
      for (const connection of connectionManager.getConnections()) void probeConnection(connection, init.clock)
    }
    function watch(): void {
      timer = init.clock.after(INTERFACES_CHECK_MS, () => {
        check()
        watch()
      })
    }

    return {
      start() {
        events.addEventListener('transport:listening', check)
        watch()
      },
      stop() {
        events.removeEventListener('transport:listening', check)
        timer?.cancel()
      }
    }
  }
}

/**
 * Other transports may listen on addresses without an interface, such as a Unix socket. libp2p throws when asked to
 * confirm these. An address at a relay states the relay's host and port.
 */
const isOfInterface = (address: Multiaddr): boolean =>
  /^ip[46]$/.test(address.getComponents()[0]?.name ?? '') && !isCircuit(address)

/**
 * The listen addresses, with wildcards expanded to interfaces. Empty where the operator configured announce addresses.
 */
export function transportAddresses(addressManager: AddressManager): Multiaddr[] {
  const known = addressManager.getAddressesWithMetadata().filter(({ type }) => type === 'transport')
  return known.map((address) => address.multiaddr)
}
