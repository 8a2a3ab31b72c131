/** `accept` forwards a message, `ignore` drops it, `reject` drops it because its sender should not have sent it. */
export type GossipVerdict = 'accept' | 'ignore' | 'reject'

/** Validates a message before it is forwarded. `from` is the peer that forwarded it. */
export type GossipHandler = (message: Uint8Array, from: string) => Promise<GossipVerdict>

/** One broadcast topic, passed from neighbour to neighbour. Messages are unordered, may repeat and may be lost. */
export interface Gossip {
  /** Never rejects, not even when no peer is connected. */
  publish(message: Uint8Array): Promise<void>
  start(handler: GossipHandler): void
  stop(): void
}
