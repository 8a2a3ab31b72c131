import type { Libp2pEvents } from '@libp2p/interface'
import type { AddressManager, TransportManager } from '@libp2p/interface-internal'
import type { TypedEventTarget } from 'main-event'
import type { Clock } from '../base/clock.ts'
import { LISTEN_MS } from '../base/limits/link.ts'
import { waitAtMost } from '../base/wait-at-most.ts'
import { isCircuit } from './reach/is-relayed.ts'

interface ListeningComponents {
  readonly addressManager: Pick<AddressManager, 'getListenAddrs'>
  readonly transportManager: Pick<TransportManager, 'getListeners'>
  readonly events: TypedEventTarget<Libp2pEvents>
}

/**
 * Resolves when all of this node's ports are open, or after `LISTEN_MS`. libp2p opens them while its services start. A peer that is
 * dialled before learns no address of this node.
 */
export async function listening(components: ListeningComponents, clock: Clock): Promise<void> {
  const { addressManager, transportManager, events } = components
  const wanted = addressManager.getListenAddrs().filter((address) => !isCircuit(address)).length
  const isDone = () => transportManager.getListeners().filter((each) => each.getAddrs().length > 0).length >= wanted
  if (isDone()) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const onListening = () => {
    if (isDone()) resolve()
  }
  events.addEventListener('transport:listening', onListening)
  await waitAtMost(clock, LISTEN_MS, promise)
  events.removeEventListener('transport:listening', onListening)
}
