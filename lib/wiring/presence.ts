import type { Libp2pEvents } from '@libp2p/interface'
import type { TypedEventTarget } from 'main-event'
import { type Clock, sleep } from '../base/clock.ts'
import { DRAIN_MS } from '../base/limits/link.ts'
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
      calls.drain()
      await Promise.race([owner.apis.drain(), sleep(clock, DRAIN_MS)])
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
  const onPeer = () => {
    announcer.peerJoined()
    discovery.catalogue.peerJoined()
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
      announcer.start(() => provider.renew())
      await reach.join()
    },
    async [Symbol.asyncDispose]() {
      reach.leave()
      events.removeEventListener('peer:identify', onPeer)
      events.removeEventListener('self:peer:update', onSelf)
      announcer.stop()
      discovery.stop()
    }
  }
}
