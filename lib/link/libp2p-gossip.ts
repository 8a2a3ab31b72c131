import type { GossipSub, TopicValidatorFn } from '@libp2p/gossipsub'
import { TopicValidatorResult } from '@libp2p/gossipsub'
import type { Connection, Logger, PeerStore } from '@libp2p/interface'
import type { Registrar } from '@libp2p/interface-internal'
import { reasonOf } from '../base/component-log.ts'
import type { Gossip, GossipHandler } from '../interface/gossip.ts'

const RESULTS = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject
} as const

export interface Libp2pGossipInit {
  readonly pubsub: GossipSub
  readonly registrar: Registrar
  readonly peerStore: PeerStore
  /** Topic of the network's announcements. */
  readonly topic: string
  readonly log: Logger
}

/** The broadcaster over libp2p pubsub. The handler runs as topic validator, so invalid messages are not forwarded. */
export class Libp2pGossip implements Gossip {
  readonly #pubsub: GossipSub
  readonly #registrar: Registrar
  readonly #peerStore: PeerStore
  readonly #topic: string
  readonly #log: Logger

  constructor({ pubsub, registrar, peerStore, topic, log }: Libp2pGossipInit) {
    this.#pubsub = pubsub
    this.#registrar = registrar
    this.#peerStore = peerStore
    this.#topic = topic
    this.#log = log
  }

  /** Peer ids of connected nodes that receive the topic's messages, and send them to this one. */
  get neighbours(): string[] {
    return this.#pubsub.getSubscribers(this.#topic).map(String)
  }

  /** Opens the streams to a connected peer again, in both directions. Gossipsub opens them only once, when the peer connects. */
  async reopen(connection: Connection): Promise<void> {
    const peer = connection.remotePeer
    const { protocols } = await this.#peerStore.get(peer)
    const spoken = this.#pubsub.protocols.find((protocol) => protocols.includes(protocol))
    if (spoken === undefined) return
    for (const topology of this.#registrar.getTopologies(spoken)) {
      await topology.onDisconnect?.(peer)
      await topology.onConnect?.(peer, connection)
    }
  }

  async publish(message: Uint8Array): Promise<void> {
    try {
      await this.#pubsub.publish(this.#topic, message)
    } catch (error) {
      this.#log('a message reached no peer: %s', reasonOf(error))
    }
  }

  start(handler: GossipHandler): void {
    const validate: TopicValidatorFn = async (peer, { data }) => {
      try {
        return RESULTS[await handler(data, peer.toString())]
      } catch (error) {
        this.#log('a message could not be validated: %s', reasonOf(error))
        return TopicValidatorResult.Ignore
      }
    }
    this.#pubsub.topicValidators.set(this.#topic, validate)
    this.#pubsub.subscribe(this.#topic)
  }

  stop(): void {
    this.#pubsub.topicValidators.delete(this.#topic)
    this.#pubsub.unsubscribe(this.#topic)
  }
}
