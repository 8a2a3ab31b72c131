import type { ConnectionEncrypter, MessageStream } from '@libp2p/interface'
import { systemClock } from '../base/clock.ts'
import { freedMessages, type OnWritten } from './freed-messages.ts'
import { quietLengths } from './quiet-lengths.ts'
import { unjoinedMessages } from './unjoined-messages.ts'

/** The parts of a TCP socket that corking uses. */
interface Corkable {
  cork(): void
  uncork(): void
  write(bytes: Uint8Array, onWritten?: () => void): boolean
}

/** The method of libp2p's connections that writes to the socket. */
interface Writing {
  sendData(data: Iterable<Uint8Array> & { readonly byteLength: number }): SendResult
}

type SendResult = { readonly sentBytes: number; readonly canSendMore: boolean }

/**
 * Wraps a connection encrypter factory, so that all writes of one turn to a TCP socket use one system call. Noise
 * writes length and ciphertext separately, and each yamux frame is a separate message, so a batch would otherwise take
 * several calls. Transports without a socket are unchanged.
 *
 * `connectionEncrypters: [corked(noise())]`
 */
export function corked<C>(
  encrypter: (components: C) => ConnectionEncrypter<unknown>
): (components: C) => ConnectionEncrypter<unknown> {
  return (components) => {
    const inner = encrypter(components)
    return {
      protocol: inner.protocol,
      secureInbound: async (connection, options) => {
        const writer = corkSends(connection)
        return tuned(await inner.secureInbound(connection, options), writer)
      },
      secureOutbound: async (connection, options) => {
        const writer = corkSends(connection)
        return tuned(await inner.secureOutbound(connection, options), writer)
      }
    }
  }
}

function tuned<S extends { connection: object }>(secured: S, writer: SocketWriter | undefined): S {
  quietLengths(secured.connection)
  unjoinedMessages(secured.connection)
  if (writer !== undefined) writer.onWritten = freedMessages(secured.connection)
  return secured
}

/** Returns the writer of a connection that is a TCP socket and nothing else. */
function corkSends(connection: MessageStream): SocketWriter | undefined {
  const socket = socketOf(connection)
  if (socket === undefined) return undefined
  const send = connection.send.bind(connection)
  let writer: SocketWriter | undefined
  if (isWriting(connection)) {
    const own = (writer = new SocketWriter(socket))
    connection.sendData = (data) => own.writeAll(data)
    drainInTurns(connection)
  }
  let corkedNow = false
  const uncork = () => {
    corkedNow = false
    socket.uncork()
  }
  connection.send = (data) => {
    if (!corkedNow) {
      corkedNow = true
      socket.cork()
      queueMicrotask(uncork)
    }
    return send(data)
  }
  return writer
}

/** The method of libp2p's connections that tells of events. */
interface Telling {
  safeDispatchEvent(type: string, detail?: object): boolean
}

/**
 * While the system takes all that is written, a socket drains before the turn of its write ends. Its streams would then send all they have,
 * megabytes each, in one turn of the event loop.
 */
function drainInTurns(connection: MessageStream & Partial<Telling>): void {
  const dispatch = connection.safeDispatchEvent?.bind(connection)
  if (dispatch === undefined) return
  connection.safeDispatchEvent = (type: string, detail?: object) => {
    if (type !== 'drain') return dispatch(type, detail)
    systemClock.soon(() => dispatch(type, detail))
    return true
  }
}

class SocketWriter {
  onWritten: OnWritten = () => undefined
  readonly #socket: Corkable

  constructor(socket: Corkable) {
    this.#socket = socket
  }

  /**
   * Writes a message whole. libp2p's own version stops inside one as soon as the socket's buffer is full, and the peer can
   * decrypt nothing until the rest is sent.
   */
  writeAll(data: Parameters<Writing['sendData']>[0]): SendResult {
    let canSendMore = true
    for (const bytes of data) canSendMore = this.#socket.write(bytes, this.onWritten(bytes))
    return { sentBytes: data.byteLength, canSendMore }
  }
}

/** A connection with a method of its own writes to something else, such as a WebSocket on the socket. */
function isWriting<S extends MessageStream>(connection: S): connection is S & Writing {
  return 'sendData' in connection && typeof connection.sendData === 'function' && !Object.hasOwn(connection, 'sendData')
}

function socketOf(connection: MessageStream): Corkable | undefined {
  if (!('socket' in connection)) return undefined
  const { socket } = connection
  const isCorkable =
    typeof socket === 'object' && socket !== null && 'cork' in socket && 'uncork' in socket && 'write' in socket
  return isCorkable ? (socket as Corkable) : undefined
}
