import type { Listener, ListenerEvents } from '@libp2p/interface'
import type { AddressManager } from '@libp2p/interface-internal'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'

/** The address at which a node listens to be called through any relay. */
export const ANY_RELAY = multiaddr('/p2p-circuit')

/** Announces the addresses of this node at its relays: libp2p announces those of listeners. The relay keeper sets them. */
export class RelayedAddresses extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly #addressManager: AddressManager
  #addresses: readonly Multiaddr[] = []

  constructor(addressManager: AddressManager) {
    super()
    this.#addressManager = addressManager
  }

  async listen(): Promise<void> {}

  /** Nothing is announced or told if the addresses are the same. */
  set(addresses: readonly Multiaddr[]): void {
    if (addresses.join() === this.#addresses.join()) return
    this.#addresses = addresses
    // libp2p announces an address of a listener once it is confirmed. A relay has confirmed these. An earlier address needs no
    // withdrawal, because no listener has it. libp2p would withdraw all addresses of its host and port, which a relay chooses:
    // the relay may state those of this node, or of another relay.
    for (const address of addresses) this.#addressManager.confirmObservedAddr(address, { type: 'transport' })
    this.safeDispatchEvent('listening')
  }

  getAddrs(): Multiaddr[] {
    return [...this.#addresses]
  }

  updateAnnounceAddrs(): void {}

  async close(): Promise<void> {
    this.set([])
    this.safeDispatchEvent('close')
  }
}
