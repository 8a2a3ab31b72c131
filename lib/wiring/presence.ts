import type { IdentifyResult, Libp2pEvents, PeerId } from '@libp2p/interface'
import { LRUCache } from 'lru-cache'
import type { TypedEventTarget } from 'main-event'
import { type Clock, sleep } from '../base/clock.ts'
import { RECORD_COPIES } from '../base/limits/directory.ts'
import { CACHED_PEERS_MAX, DRAIN_MS } from '../base/limits/link.ts'
import type { CallProtocol } from '../call/call-protocol.ts'
import type { Libp2pLink } from '../link/libp2p-link.ts'
import type { Owner } from '../owner/owner.ts'
import type { Discovery } from '../resolve/catalogue/discovery.ts'
import type { Part } from './part.ts'
import type { Reach } from './reach.ts'
import type { Selling } from './selling.ts'

export interface ServingInit {
  readonly clock: Clock
  readonly link: Libp2pLink
  readonly owner: Owner
  readonly calls: CallProtocol
}

/**
 * Accepts calls of peers. When it stops, it sends new calls elsewhere, waits for running ones, and sends the last
 * responses.
 */
export function servingPart({ clock, link, owner, calls }: ServingInit): Part {
  return {
    start: () => link.start(),
    async [Symbol.asyncDispose]() {
      const drained = Promise.all([calls.drain(), owner.apis.drain()])
      await Promise.race([drained, sleep(clock, DRAIN_MS)])
      calls.stop()
      // libp2p closes connections in the same step, so the last responses must be sent before.
      await link.stop()
    }
  }
}

export interface PresenceInit {
  readonly events: TypedEventTarget<Libp2pEvents>
  readonly reach: Reach
  readonly selling: Selling
  readonly discovery: Discovery
}

/** Makes the node discoverable, and keeps its catalogue up to date. */
export function presencePart({ events, reach, selling, discovery }: PresenceInit): Part {
  const { announcer, provider } = selling
  /** Peers that disconnected. */
  const gone = new LRUCache<string, true>({ max: CACHED_PEERS_MAX })
  const onGone = ({ detail: peer }: CustomEvent<PeerId>) => void gone.set(peer.toString(), true)
  const onPeer = ({ detail: { peerId: peer } }: CustomEvent<IdentifyResult>) => {
    announcer.peerJoined()
    discovery.catalogue.peerJoined()
    // In a larger network, other peers have the records as well.
    if (gone.delete(peer.toString()) && reach.link.peers().length <= RECORD_COPIES) announcer.peerReturned()
  }
  let told = ''
  const onSelf = () => {
    const addresses = reach.addresses().join()
    if (told !== addresses) announcer.addressesChanged()
    told = addresses
  }
  return {
    async start() {
      discovery.start()
      told = reach.addresses().join()
      events.addEventListener('self:peer:update', onSelf)
      events.addEventListener('peer:identify', onPeer)
      events.addEventListener('peer:disconnect', onGone)
      announcer.start(() => provider.renew())
      await reach.join()
      await announcer.settled()
    },
    async [Symbol.asyncDispose]() {
      reach.leave()
      events.removeEventListener('peer:disconnect', onGone)
      events.removeEventListener('peer:identify', onPeer)
      events.removeEventListener('self:peer:update', onSelf)
      announcer.stop()
      discovery.stop()
    }
  }
}
