/** `accept` passes a message on, `ignore` does not, `reject` counts against whoever sent it. */
export type GossipVerdict = 'accept' | 'ignore' | 'reject'

/** Judges a message before it goes on; `from` is the peer that passed it on. */
export type GossipHandler = (message: Uint8Array, from: string) => Promise<GossipVerdict>

/** One topic, told to everybody on the network through their neighbours. Unordered, at least once, no promise to arrive. */
export interface Gossip {
  /** Never rejects: nobody may be there. */
  publish(message: Uint8Array): Promise<void>
  start(handler: GossipHandler): void
  stop(): void
}
