import type { MessageStream } from '@libp2p/interface'
import { decode } from 'uint8-varint'
import type { Uint8ArrayList } from 'uint8arraylist'
import { DHT_REQUEST_BYTES_MAX } from '../base/limits/directory.ts'
import { LENGTH_BYTES_MAX, MESSAGES_UNANSWERED_MAX, SELECT_BYTES_MAX, SELECT_LINES_MAX } from '../base/limits/link.ts'

/*
 * `lpStream` of @libp2p/utils 7 reads a length byte by byte until it is one, however many bytes that takes, and does not yield: 64 KiB
 * hold the event loop for half a second. multistream-select reads with it on each connection, before the peer is authenticated, and on
 * each stream. So lengths are checked before libp2p reads them.
 */

/** The method of libp2p's streams that receives the bytes of the peer. */
export interface Receiving extends MessageStream {
  onData(data: Uint8Array | Uint8ArrayList): void
}

export function isReceiving<S extends MessageStream>(stream: S): stream is S & Receiving {
  return 'onData' in stream && typeof stream.onData === 'function'
}

/** Protocols whose messages `lpStream` reads: Souk's, except the two with readers of their own, the DHT and identify. */
const ALL = /^\/souk\/(?!(?:call|bulk)\/)|\/kad\/|^\/ipfs\/id\//
/** These relay any bytes after their first message. */
const FIRST = /^\/libp2p\/circuit\/relay\/.*\/(?:hop|stop)$/
/** Exchanges limit their own messages. kad-dht accepts requests of 4 MiB. */
const DHT = /\/kad\//

/** Checks the messages of a stream whose protocol is known. */
export function checkMessages(stream: Receiving, protocol: string): void {
  const messages = messagesOf(protocol)
  const isRequest = stream.direction === 'inbound' && DHT.test(protocol)
  if (messages > 0) check(stream, new Lengths(messages, isRequest ? DHT_REQUEST_BYTES_MAX : undefined))
}

/** Checks the lines of multistream-select that answer this node's, then the messages of the protocol that they choose. */
export function checkLines(stream: Receiving): void {
  check(stream, new Lengths(undefined))
}

/** Limits the selection of the encryption and of the muxer. libp2p passes the decoder on to `lpStream`. */
export function checkedUpgrade<O extends object>(options: O): O {
  let calls = 0
  // Called for each byte of a length. A line of this selection has a length of one byte.
  const lengthDecoder = (length: Uint8ArrayList): number => {
    if (++calls > SELECT_LINES_MAX || length.byteLength > LENGTH_BYTES_MAX) throw tooMuch()
    return decode(length)
  }
  // The limits of a relayed connection are a getter: they are known after the handshake.
  const own = Object.getOwnPropertyDescriptors(options)
  return Object.defineProperties({} as O, {
    ...own,
    lengthDecoder: { value: lengthDecoder, enumerable: true }
  })
}

function check(stream: Receiving, lengths: Lengths): void {
  const onData = stream.onData.bind(stream)
  const send = stream.send.bind(stream)
  stream.send = (data) => {
    lengths.answered()
    return send(data)
  }
  const end = () => {
    stream.onData = onData
    stream.send = send
  }
  stream.onData = (data) => {
    try {
      for (const chunk of data instanceof Uint8Array ? [data] : data) if (!lengths.take(chunk)) break
    } catch (error) {
      end()
      stream.abort(error as Error)
      return
    }
    if (lengths.isOver) end()
    onData(data)
  }
}

class Lengths {
  /** Number of messages of the protocol that are still to check. Undefined while lines of the selection are read. */
  #messages: number | undefined
  /** Longest message of the protocol. */
  readonly #bytesMax: number
  #lines = 0
  /** Messages since the last one to the peer. */
  #unanswered = 0
  #line = ''
  #lengthBytes = 0
  #length = 0
  /** Bytes of the current message that are still to come; undefined while its length is read. */
  #left: number | undefined

  constructor(messages: number | undefined, bytesMax = Number.POSITIVE_INFINITY) {
    this.#messages = messages
    this.#bytesMax = bytesMax
  }

  /** Nothing after what was taken needs a check. */
  get isOver(): boolean {
    return this.#messages === 0
  }

  answered(): void {
    this.#unanswered = 0
  }

  /** @returns false if the rest needs no check */
  take(chunk: Uint8Array): boolean {
    let at = 0
    while (at < chunk.length && !this.isOver) {
      if (this.#left === undefined) {
        this.#takeLength(chunk[at++] ?? 0)
      } else {
        const part = chunk.subarray(at, at + this.#left)
        if (this.#messages === undefined) this.#line += String.fromCharCode(...part)
        this.#left -= part.length
        at += part.length
      }
      if (this.#left === 0) this.#endMessage()
    }
    return !this.isOver
  }

  #takeLength(byte: number): void {
    this.#length += (byte & 0x7f) * 2 ** (7 * this.#lengthBytes)
    if (++this.#lengthBytes > LENGTH_BYTES_MAX) throw tooMuch()
    if (byte >= 0x80) return
    if (this.#length > (this.#messages === undefined ? SELECT_BYTES_MAX : this.#bytesMax)) throw tooMuch()
    this.#left = this.#length
    this.#length = this.#lengthBytes = 0
  }

  #endMessage(): void {
    this.#left = undefined
    if (this.#messages !== undefined) {
      this.#messages--
      // kad-dht responds to all that has arrived in one turn.
      if (++this.#unanswered > MESSAGES_UNANSWERED_MAX) throw tooMuch()
      return
    }
    const line = this.#line.trimEnd()
    this.#line = ''
    if (++this.#lines > SELECT_LINES_MAX) throw tooMuch()
    if (line.startsWith('/') && !line.startsWith('/multistream/')) this.#messages = messagesOf(line)
  }
}

function messagesOf(protocol: string): number {
  if (ALL.test(protocol)) return Number.POSITIVE_INFINITY
  return FIRST.test(protocol) ? 1 : 0
}

const tooMuch = () => new Error('the peer sent a length, a selection or a row of requests that is longer than any')
