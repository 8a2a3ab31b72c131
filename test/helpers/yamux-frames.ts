import { noise } from '@chainsafe/libp2p-noise'
import type { Libp2p } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'

/** Types of yamux frames. */
export const [DATA, WINDOW_UPDATE, PING] = [0, 1, 2]
/** Flags of yamux frames. */
export const [SYN, ACK, FIN, RST] = [1, 2, 4, 8]
export const HEADER_BYTES = 12

/** The header of a frame. A data frame has `length` bytes after it. */
export function frame(type: number, flag: number, stream: number, length: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(type, 1)
  header.writeUInt16BE(flag, 2)
  header.writeUInt32BE(stream, 4)
  header.writeUInt32BE(length, 8)
  return header
}

/** A peer that sends no frames by itself. */
export function quietPeer(): Promise<Libp2p> {
  return createLibp2p({
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ enableKeepAlive: false })],
    connectionMonitor: { enabled: false }
  })
}
