/** Where a peer is reached: its id, and multiaddrs where they are known already. */
export interface PeerAddress {
  /** Peer id as text. */
  readonly id: string
  /** Multiaddrs as text; empty when the link should find them itself. */
  readonly addresses: readonly string[]
}

/**
 * One long-lived, ordered, encrypted pipe of frames to one peer. Frames of one microtask turn leave together.
 * Either side may send. It ends once: `onClose` is called exactly once, after which sends throw `owner_unreachable`.
 */
export interface Channel {
  /** The peer id, authenticated by the link. */
  readonly peer: string
  /** This side opened it. */
  readonly outbound: boolean
  readonly open: boolean
  /** Bytes accepted by `send` and not yet taken by the transport. */
  readonly queuedBytes: number
  /** Takes one frame (without length prefix), which must not be changed afterwards. Never blocks. */
  send(frame: Uint8Array): void
  /** Called for each frame that arrives, in order. Set once, before the turn in which the channel was given ends. */
  onFrame: (frame: Uint8Array) => void
  /** `error` is set when it did not end by `close` of either side. */
  onClose: (error?: Error) => void
  /** Opens a stream of its own beside the frames for a large or endless body, named by `tag`. */
  openBulk(tag: Uint8Array, signal: AbortSignal): Promise<BulkSink>
  /** Sends what is queued, then ends. */
  close(): Promise<void>
  abort(error: Error): void
}

/** The sending end of a body on its own stream. */
export interface BulkSink {
  /** Resolves when more may be written: this is the backpressure. Rejects when the stream broke or the reader stopped. */
  write(chunk: Uint8Array): Promise<void>
  /** A clean end: the reader sees every byte, then the end. */
  end(): Promise<void>
  /** The reader sees an error. */
  abort(error: Error): void
}

/** The receiving end. Ends cleanly only when the sender ended cleanly; `return()` on the iterator tells the sender to stop. */
export interface BulkSource extends AsyncIterable<Uint8Array> {
  abort(error: Error): void
}

/** Answers one small request of a peer. A throw becomes a reset: the peer learns nothing of it. */
export type ExchangeHandler = (request: Uint8Array, peer: string) => Promise<Uint8Array>

/** Everything the rest of the library needs of libp2p's streams. Nothing outside `lib/link` knows more. */
export interface Link {
  /** This node's peer id. */
  readonly self: string
  /**
   * The channel to a peer, opened when there is none.
   * @throws SoukError `owner_unreachable`; the signal's reason when it aborts
   */
  connect(peer: PeerAddress, signal: AbortSignal): Promise<Channel>
  /** Called for every new channel, whoever opened it, before any of its frames. */
  onChannel: (channel: Channel) => void
  /** Called for each bulk stream that a peer opens. It may come before or after the frame that speaks of its tag. */
  onBulk: (peer: string, tag: Uint8Array, source: BulkSource) => void
  /**
   * One small request and its answer on a stream of their own, for rare things (manifests, catalogue pages).
   * @throws SoukError `owner_unreachable` when the peer cannot be reached, does not speak it or answers too much; the
   *   signal's reason when it aborts
   */
  exchange(peer: PeerAddress, protocol: string, request: Uint8Array, options: ExchangeOptions): Promise<Uint8Array>
  /** Answers such requests while the link runs. Register before `start`. */
  serve(protocol: string, handler: ExchangeHandler, options: ServeOptions): void
  /** Peers connected now. */
  peers(): readonly PeerAddress[]
  start(): Promise<void>
  /** Closes every channel. */
  stop(): Promise<void>
}

export interface ExchangeOptions {
  readonly responseBytesMax: number
  readonly signal: AbortSignal
  /** How long the whole of it may take. Default `EXCHANGE_MS`. */
  readonly timeoutMs?: number
}

export interface ServeOptions {
  readonly requestBytesMax: number
  /** As long as the answer may take. Default `EXCHANGE_MS`. */
  readonly timeoutMs?: number
}
