/** A small consumer of the protocol, written from docs/reference alone. It calls one API in a loop. It imports nothing of ours. */
import { randomBytes } from 'node:crypto'
import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import type { Connection, Stream } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { Cutter, bytesIn, numberIn, prefixed, read, textIn, write } from './wire.ts'

const NETWORK = 'dev'
const FRAME_BYTES_MAX = 106_496
const CHUNK_BYTES_MAX = 65_536
const IN_FLIGHT_MAX = 100

export interface SmallConsumer {
  stop(): Promise<void>
}

interface Call {
  readonly requestId: Buffer
  /** Epoch of the hello under which it was first sent. */
  epoch?: bigint
  readonly settle: () => void
}

/** @param options `isForgetful`: after a broken stream, it calls again with another request id, which is wrong */
export function startSmallConsumer(
  { address, api }: { readonly address: string; readonly api: string },
  { isForgetful = false } = {}
): SmallConsumer {
  const stop = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    const node = await createLibp2p({
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()],
      services: { identify: identify(), ping: ping() },
      addresses: { listen: [] }
    })
    const bulk = new Map<string, () => void>()
    await node.handle('/souk/bulk/1.0.0', (stream) => takeBody(stream, bulk), { maxInboundStreams: 64 })
    const connection = await node.dial(multiaddr(address))
    let line: Line | undefined
    while (!stop.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      let call: Call = { requestId: newId(), settle: resolve }
      const done = new AbortController()
      void promise.then(() => done.abort())
      while (!done.signal.aborted && !stop.signal.aborted) {
        if (line === undefined || (line.isOver && !line.isDraining))
          line = await Line.open(connection, bulk).catch(() => undefined)
        if (line === undefined || line.isDraining) await pause()
        else {
          line.send(call, api)
          await Promise.race([promise, line.ended])
          if (!done.signal.aborted && isForgetful) call = { requestId: newId(), settle: resolve }
        }
      }
    }
    await node.stop()
  }

  return {
    async stop() {
      stop.abort()
      await running
    }
  }
}

/** One control stream. */
class Line {
  static async open(connection: Connection, bulk: Map<string, () => void>): Promise<Line> {
    const stream = await connection.newStream('/souk/call/1.0.0', { maxOutboundStreams: 64 })
    const line = new Line(stream, bulk)
    await line.#ready
    return line
  }

  readonly #stream: Stream
  readonly #calls = new Map<number, Call>()
  readonly #ready: Promise<void>
  readonly ended: Promise<void>
  isOver = false
  isDraining = false
  #epoch: bigint | undefined
  #lastId = 0

  private constructor(stream: Stream, bulk: Map<string, () => void>) {
    this.#stream = stream
    const cutter = new Cutter(FRAME_BYTES_MAX)
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    this.#ready = Promise.race([ready.promise, ended.promise])
    this.ended = ended.promise
    stream.addEventListener('close', () => {
      this.isOver = true
      ended.resolve()
    })
    stream.addEventListener('message', ({ data }) => {
      try {
        for (const bytes of cutter.push(data.subarray())) this.#onFrame(bytes, bulk, ready.resolve)
      } catch (error) {
        stream.abort(error as Error)
      }
    })
    const hello = write([
      [1, NETWORK],
      [2, Date.now()],
      [3, 'small-consumer'],
      [4, IN_FLIGHT_MAX]
    ])
    stream.send(prefixed(write([[1, hello]])))
  }

  send(call: Call, api: string): void {
    if (this.isOver || this.#epoch === undefined) return
    const id = ++this.#lastId
    this.#calls.set(id, call)
    const isRepeat = call.epoch !== undefined
    call.epoch ??= this.#epoch
    const request = write([
      [1, id],
      [2, call.requestId],
      [3, api],
      [4, 'POST'],
      [7, Buffer.from('{}')],
      [8, 10_000],
      ...(isRepeat ? [[14, call.epoch] as const] : [])
    ])
    this.#stream.send(prefixed(write([[2, request]])))
  }

  #onFrame(bytes: Uint8Array, bulk: Map<string, () => void>, ready: () => void): void {
    const frame = read(bytes)
    const hello = bytesIn(frame, 1)
    if (hello !== undefined && this.#epoch === undefined) {
      if (textIn(read(hello), 1) !== NETWORK) throw new Error('another network')
      this.#epoch = BigInt(numberIn(read(hello), 2))
      ready()
    }
    if (frame.has(7)) this.isDraining = true
    const response = bytesIn(frame, 3)
    const answer = response ?? bytesIn(frame, 4)
    if (answer === undefined) return
    const fields = read(answer)
    const call = this.#calls.get(numberIn(fields, 1))
    if (call === undefined) return
    this.#calls.delete(numberIn(fields, 1))
    const isOnBulk = response !== undefined && !fields.has(4)
    if (isOnBulk) bulk.set(call.requestId.toString('hex'), call.settle)
    else call.settle()
  }
}

/** Reads a response body; the call ends with it. */
function takeBody(stream: Stream, bulk: Map<string, () => void>): void {
  const cutter = new Cutter(CHUNK_BYTES_MAX)
  let id: string | undefined
  stream.addEventListener('message', ({ data }) => {
    for (const piece of cutter.push(data.subarray())) {
      id ??= Buffer.from(piece).toString('hex', 0, 16)
      if (piece.length === 0) {
        bulk.get(id)?.()
        void stream.close()
      }
    }
  })
}

function newId(): Buffer {
  const id = randomBytes(16)
  id.writeUIntBE(Date.now(), 0, 6)
  id.writeUInt8((id.readUInt8(6) & 0x0f) | 0x70, 6)
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8)
  return id
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))
