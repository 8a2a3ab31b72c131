import { type GossipSub, gossipsub, type GossipSubComponents, StrictNoSign } from '@libp2p/gossipsub'
import type { PeerId, Stream } from '@libp2p/interface'
import { checkMembers, FLAG, type MemberRules, TEXT } from '../base/check-members.ts'
import { nextTurn, systemClock } from '../base/clock.ts'
import {
  ANNOUNCEMENT_BYTES_MAX,
  GOSSIP_BUFFER_BYTES_MAX,
  GOSSIP_DECLINED_BYTES_MIN,
  GOSSIP_IDS_MAX,
  GOSSIP_MESSAGES_MAX,
  GOSSIP_OFFERED_PERCENT,
  GOSSIP_OFFERS,
  GOSSIP_TOPIC_BYTES_MAX,
  GOSSIP_TOPICS_MAX,
  GOSSIP_TURN_MESSAGES_MAX
} from '../base/limits/directory.ts'
import { checkNetwork } from '../base/network-name.ts'
import { resumeReading } from './resume-reading.ts'

/** Topic of a network's announcements. */
export const announcementTopic = (network: string): string => `/souk/${network}/announcements/1.0.0`

/** Seconds for which a neighbour can ask for the announcement after the last offer. */
const OFFER_SLACK = 2

export interface SoukGossipInit {
  /** Name of the network, as for `soukDht`. */
  readonly network: string
  /** All peers may share one address, so sharing an address does not lower their scores. Default false. */
  readonly privateAddresses?: boolean
}

const RULES: MemberRules<SoukGossipInit> = { network: TEXT, privateAddresses: FLAG }

/**
 * The pubsub of a Souk network as a libp2p service: `services: { pubsub: soukGossip({ network: 'dev' }) }`. Requires
 * the service `identify`. Messages are unsigned, because their contents are signed.
 * @throws SoukError `invalid_request` for an option of a wrong name or type
 */
export function soukGossip(init: SoukGossipInit): (components: GossipSubComponents) => GossipSub {
  checkMembers('The options of `soukGossip`', init, RULES, ['network'])
  checkNetwork(init.network)
  const { network, privateAddresses = false } = init
  const service = gossipsub({
    globalSignaturePolicy: StrictNoSign,
    allowedTopics: [announcementTopic(network)],
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    fallbackToFloodsub: false,
    mcacheGossip: GOSSIP_OFFERS,
    mcacheLength: GOSSIP_OFFERS + OFFER_SLACK,
    gossipFactor: GOSSIP_OFFERED_PERCENT / 100,
    idontwantMinDataSize: GOSSIP_DECLINED_BYTES_MIN,
    maxInboundDataLength: ANNOUNCEMENT_BYTES_MAX,
    maxOutboundBufferSize: GOSSIP_BUFFER_BYTES_MAX,
    maxTopicBytesPerPeer: GOSSIP_TOPIC_BYTES_MAX,
    decodeRpcLimits: {
      maxSubscriptions: GOSSIP_TOPICS_MAX,
      maxMessages: GOSSIP_MESSAGES_MAX,
      maxIhaveMessageIDs: GOSSIP_IDS_MAX,
      maxIwantMessageIDs: GOSSIP_IDS_MAX,
      maxIdontwantMessageIDs: GOSSIP_IDS_MAX,
      maxControlMessages: GOSSIP_IDS_MAX,
      maxPeerInfos: GOSSIP_TOPICS_MAX
    },
    runOnLimitedConnection: true,
    ...(privateAddresses ? { scoreParams: { IPColocationFactorWeight: 0 } } : {})
  })
  return (components) => {
    const pubsub = service(components)
    readInTurns(pubsub)
    return pubsub
  }
}

/** The parts of gossipsub that read the messages of a neighbour. */
interface Reading {
  readonly streamsInbound: Map<string, { readonly rawStream: Stream }>
  pipePeerReadStream(peer: PeerId, messages: AsyncIterable<unknown>): Promise<void>
}

/**
 * Gossipsub handles all messages that have arrived in one turn of the event loop: a megabyte of empty ones takes a second. It queues what
 * it has not handled without a limit.
 */
function readInTurns(pubsub: object): void {
  const reading = pubsub as Reading
  const read = reading.pipePeerReadStream.bind(pubsub)
  reading.pipePeerReadStream = (peer, messages) =>
    read(peer, inTurns(messages, reading.streamsInbound.get(peer.toString())?.rawStream))
}

/** The stream is paused until no message is left. So the queue has no more than the window of the stream. */
async function* inTurns<T>(messages: AsyncIterable<T>, stream: Stream | undefined): AsyncGenerator<T, void> {
  let count = 0
  /** The count one turn ago, and the turns since it changed. One of them is that of `nextTurn`. */
  let seen = 0
  let idleTurns = 0
  const resumeWhenIdle = () => {
    idleTurns = count === seen ? idleTurns + 1 : 0
    seen = count
    if (stream?.readStatus !== 'paused') return
    if (idleTurns > 1) resumeReading(stream)
    else systemClock.soon(resumeWhenIdle)
  }
  for await (const message of messages) {
    yield message
    if (++count % GOSSIP_TURN_MESSAGES_MAX !== 0) continue
    if (stream?.readStatus === 'readable') {
      stream.pause()
      systemClock.soon(resumeWhenIdle)
    }
    await nextTurn(systemClock)
  }
}
