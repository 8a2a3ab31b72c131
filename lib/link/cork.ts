import type { ConnectionEncrypter, MessageStream } from '@libp2p/interface'
import { quietLengths } from './quiet-lengths.ts'

/** The parts of a TCP socket that corking uses. */
interface Corkable {
  cork(): void
  uncork(): void
}

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
      secureInbound: async (connection, options) => quiet(await inner.secureInbound(corkSends(connection), options)),
      secureOutbound: async (connection, options) => quiet(await inner.secureOutbound(corkSends(connection), options))
    }
  }
}

function quiet<S extends { connection: object }>(secured: S): S {
  quietLengths(secured.connection)
  return secured
}

function corkSends(connection: MessageStream): MessageStream {
  const socket = socketOf(connection)
  if (socket === undefined) return connection
  const send = connection.send.bind(connection)
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
  return connection
}

function socketOf(connection: MessageStream): Corkable | undefined {
  if (!('socket' in connection)) return undefined
  const { socket } = connection
  const isCorkable =
    typeof socket === 'object' && socket !== null && 'cork' in socket && 'uncork' in socket && 'write' in socket
  return isCorkable ? (socket as Corkable) : undefined
}
