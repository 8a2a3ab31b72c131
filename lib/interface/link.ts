/** A peer's id, with its multiaddrs where they are known. */
export interface PeerAddress {
  /** Peer id as text. */
  readonly id: string
  /** Multiaddrs as text. Empty: the link looks them up. */
  readonly addresses: readonly string[]
}

/**
 * A long-lived, ordered, encrypted connection that carries frames to one peer, in both directions. Frames sent in one
 * turn of the event loop are written together. `onClose` is called exactly once; afterwards `send` throws `owner_unreachable`.
 */
export interface Channel {
  /** Peer id, authenticated by the link. */
  readonly peer: string
  /** True where this node opened the channel. */
  readonly outbound: boolean
  /** The channel runs through a relay. Default false. */
  readonly isRelayed?: boolean
  readonly open: boolean
  /** Bytes accepted by `send` that the transport has not taken yet. */
  readonly queuedBytes: number
  /**
   * Sends one frame, without length prefix. Do not change the array afterwards. Never blocks.
   * @param running - number of calls that run on this channel. The frame of a single call is written at once. The frames of many
   * calls wait some turns for each other. Default: a few calls, whose frames are written at the end of the turn
   */
  send(frame: Uint8Array, running?: number): void
  /** Receives each frame in order. Set it once, in the turn that delivers the channel. */
  onFrame: (frame: Uint8Array) => void
  /** `error` is set unless one side called `close`. */
  onClose: (error?: Error) => void
  /** Opens a separate stream for a large or endless body, identified by `tag`. Frames that were sent before leave first. */
  openBulk(tag: Uint8Array, signal: AbortSignal): Promise<BulkSink>
  /** Sends the queued frames, then closes. */
  close(): Promise<void>
  abort(error: Error): void
}

/** The sending end of a body on its own stream. */
export interface BulkSink {
  /** The reader read the body to its end. Before, bytes that were written may still be on their way. */
  readonly isRead: boolean
  /** Resolves when the caller may write more (backpressure). Rejects when the stream broke or the reader stopped. */
  write(chunk: Uint8Array): Promise<void>
  /** Clean end: the reader gets every byte, then the end. */
  end(): Promise<void>
  /** The reader gets an error. */
  abort(error: Error): void
}

/**
 * The receiving end. It ends cleanly only when the sender called `end`. The iterator's `return()` tells the sender to
 * stop.
 */
export interface BulkSource extends AsyncIterable<Uint8Array> {
  abort(error: Error): void
}

/** Handles one small request of a peer. A throw resets the stream; the peer does not see the error. */
export type ExchangeHandler = (request: Uint8Array, peer: string) => Promise<Uint8Array>

/** All libp2p stream functions that the library uses. Only `lib/link` knows libp2p streams. */
export interface Link {
  /** This node's peer id. */
  readonly self: string
  /**
   * Returns the channel to a peer, and opens one if needed.
   * @throws SoukError `owner_unreachable`; the signal's reason when it aborts
   */
  connect(peer: PeerAddress, signal: AbortSignal): Promise<Channel>
  /** Called for every new channel, inbound or outbound, before its first frame. */
  onChannel: (channel: Channel) => void
  /** Called for each bulk stream that a peer opens. It may arrive before or after the frame with its tag. */
  onBulk: (peer: string, tag: Uint8Array, source: BulkSource) => void
  /**
   * Sends one small request on its own stream and returns the response. For rare requests, such as manifests and
   * catalogue pages.
   * @throws SoukError `owner_unreachable` when the peer is unreachable, does not support the protocol or responds with
   *   too many bytes; the signal's reason when it aborts
   */
  exchange(peer: PeerAddress, protocol: string, request: Uint8Array, options: ExchangeOptions): Promise<Uint8Array>
  /** Registers a handler for such requests. Call it before `start`. */
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
  /** Time for the response. After bytes have passed it is at least `HEARTBEAT_ANSWER_MS`, up to `EXCHANGE_MS_MAX` in all. Default `EXCHANGE_MS`. */
  readonly timeoutMs?: number
}

export interface ServeOptions {
  readonly requestBytesMax: number
}
