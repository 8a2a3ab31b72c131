import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { limits } from '../../lib/index.ts'
import { type Clock, type Timer } from '../../lib/interface/index.ts'

/** RFC 6886, section 3.3. */
const VERSION = 0
const MAP_TCP = 2
const RESPONSE = 128
const SUCCESS = 0
/** A refusal may have no more than the result. */
const REFUSAL_BYTES = 8
const RESPONSE_BYTES = 16

export interface NatPmpRequest {
  /** IP address of the router. */
  readonly router: string
  /** Default 5351, which all routers use. */
  readonly routerPort?: number
  readonly port: number
  /** The router's port. The router may choose another one. */
  readonly wanted: number
  /** 0 removes the mapping. */
  readonly lifetimeS: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Asks a router by NAT-PMP to forward a TCP port. The request is repeated at growing intervals, because UDP loses packets.
 * @returns the router's port
 * @throws Error if the router refuses; the signal's reason if it does not respond
 */
export async function mapByNatPmp(asked: NatPmpRequest): Promise<number> {
  const { router, routerPort = 5351, port, wanted, lifetimeS, clock, signal } = asked
  const request = Buffer.alloc(12)
  request.writeUInt8(VERSION, 0)
  request.writeUInt8(MAP_TCP, 1)
  request.writeUInt16BE(port, 4)
  request.writeUInt16BE(wanted, 6)
  request.writeUInt32BE(lifetimeS, 8)
  const socket = createSocket('udp4')
  let timer: Timer | undefined
  try {
    // A connected socket receives from the router only.
    socket.connect(routerPort, router)
    await once(socket, 'connect', { signal })
    const send = (pauseMs: number) => {
      socket.send(request)
      timer = clock.after(pauseMs, () => send(2 * pauseMs))
    }
    send(limits.NAT_PMP_REPEAT_MS)
    return await mappedPort(socket, port, signal)
  } finally {
    timer?.cancel()
    socket.close()
  }
}

async function mappedPort(socket: Socket, port: number, signal: AbortSignal): Promise<number> {
  while (true) {
    const [response] = (await once(socket, 'message', { signal })) as [Buffer]
    if (response.length < REFUSAL_BYTES || response.readUInt8(0) !== VERSION) continue
    if (response.readUInt8(1) !== RESPONSE + MAP_TCP) continue
    const result = response.readUInt16BE(2)
    if (result !== SUCCESS) throw new Error(`the router refused by NAT-PMP with result ${result}`)
    if (response.length >= RESPONSE_BYTES && response.readUInt16BE(8) === port) return response.readUInt16BE(10)
  }
}
