import type { GossipSub, TopicValidatorFn } from '@libp2p/gossipsub'
import { TopicValidatorResult } from '@libp2p/gossipsub'
import type { Logger } from '@libp2p/interface'
import { reasonOf } from '../base/component-log.ts'
import type { Gossip, GossipHandler } from '../interface/gossip.ts'

const RESULTS = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject
} as const

/** The broadcaster over libp2p pubsub. The handler runs as topic validator, so invalid messages are not forwarded. */
export class Libp2pGossip implements Gossip {
  readonly #pubsub: GossipSub
  readonly #topic: string
  readonly #log: Logger

  constructor(pubsub: GossipSub, topic: string, log: Logger) {
    this.#pubsub = pubsub
    this.#topic = topic
    this.#log = log
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
