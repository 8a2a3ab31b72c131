import { connect, type Socket } from 'node:net'
import { play } from '../../bench/role.ts'

export interface HeldBodies {
  readonly port: number
  readonly path: string
  /** Header lines; connection n uses number n modulo their count. */
  readonly headers: readonly string[]
  readonly connections: number
  /** The announced length; all but the last byte is sent. */
  readonly bytes: number
}

export interface HeldBodiesResult {
  /** Connections whose body was accepted except for its last byte, and those with an early response. */
  readonly held: number
  readonly refused: number
}

const CHUNK = Buffer.alloc(256 * 1024, 0x20)
const ANSWER_MS = 1_500
let sockets: Socket[] = []

/** Sends a body without its last byte, and returns whether a response came before. */
function hold({ port, path, headers, bytes }: HeldBodies, at: number): Promise<'held' | 'refused'> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    sockets.push(socket)
    let left = bytes - 1
    const send = () => {
      while (left > 0 && !socket.destroyed) {
        const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length))
        left -= chunk.length
        if (!socket.write(chunk)) return
      }
      // The system buffers up to one mebibyte without a reader, so wait for an early response.
      if (left === 0) socket.write('', () => setTimeout(() => resolve('held'), ANSWER_MS))
    }
    socket.on('drain', send)
    socket.on('data', () => resolve('refused'))
    socket.on('error', () => resolve('refused'))
    socket.on('close', () => resolve('refused'))
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `${headers[at % headers.length]}\r\nContent-Length: ${bytes}\r\n\r\n`
    )
    send()
  })
}

async function run(init: HeldBodies): Promise<HeldBodiesResult> {
  const fates = await Promise.all(Array.from({ length: init.connections }, (_, at) => hold(init, at)))
  const held = fates.filter((fate) => fate === 'held').length
  return { held, refused: fates.length - held }
}

function leave(): void {
  for (const socket of sockets) socket.destroy()
  sockets = []
}

play(() => ({ info: {}, operations: { run, leave }, stop: leave }))
