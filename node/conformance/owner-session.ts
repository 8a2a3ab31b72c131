import type { Connection } from '@libp2p/interface'
import { limits, sleep, systemClock } from '../../lib/index.ts'
import { KIND } from './call-stream.ts'
import type { FramedStream } from './framed-stream.ts'
import { encodeFields, type Field, Message } from './message.ts'

/** A request of the consumer. */
export interface ReceivedCall {
  readonly session: OwnerSession
  readonly id: bigint
  readonly requestId: Uint8Array
  readonly request: Message
}

/** Boot epoch of the kit's owner. */
export const OWNER_EPOCH = 4_020_000n

/** A control stream that the consumer opened. */
export class OwnerSession {
  readonly connection: Connection
  readonly #stream: FramedStream
  /** The consumer's hello. Undefined until it comes. */
  hello: Message | undefined
  /** The consumer sent a frame before its hello. */
  isUnannounced = false
  /** Ids of its requests do not ascend. */
  isUnordered = false
  #lastId = 0n

  constructor(stream: FramedStream, connection: Connection, network: string) {
    this.#stream = stream
    this.connection = connection
    this.sayHello(network)
  }

  get isOver(): boolean {
    return this.#stream.isOver
  }

  /** Reads frames until the stream ends. */
  async serve(onCall: (call: ReceivedCall) => void): Promise<void> {
    try {
      for (;;) {
        const bytes = await this.#stream.next(limits.CONFORMANCE_CALLS_MS)
        if (bytes === undefined) return
        this.#read(new Message(bytes), onCall)
      }
    } catch {
      this.reset()
    }
  }

  send(kind: number, fields: readonly Field[]): void {
    this.#stream.send(encodeFields([[kind, encodeFields(fields)]]))
  }

  sayHello(network: string): void {
    this.send(KIND.hello, [
      [1, network],
      [2, OWNER_EPOCH],
      [3, 'souk-conformance'],
      [4, limits.IN_FLIGHT_PER_PEER_MAX]
    ])
  }

  /** Sends frames that the consumer has to ignore. */
  sendNoise(): void {
    this.#stream.send(encodeFields([[100, 'unknown']]))
    this.#stream.send(new Uint8Array(0))
    this.send(KIND.response, [
      [1, UNKNOWN_ID],
      [2, 200],
      [4, new Uint8Array(0)]
    ])
    this.send(KIND.failure, [
      [1, UNKNOWN_ID],
      [2, 'internal_error']
    ])
    this.sayHello('souk-conformance-elsewhere')
  }

  /** @param body null: on a bulk stream */
  respond({ id }: ReceivedCall, body: Uint8Array | null = Buffer.from('{}')): void {
    const header = encodeFields([
      [1, 'content-type'],
      [2, 'application/json']
    ])
    this.send(KIND.response, [
      [1, id],
      [2, 200],
      [3, header],
      ...(body === null ? [] : [[4, body] as const]),
      [99, 'new']
    ])
  }

  fail({ id }: ReceivedCall, code: string): void {
    this.send(KIND.failure, [
      [1, id],
      [2, code],
      [3, 'A check of souk conformance.'],
      [4, 500],
      [99, 'new']
    ])
  }

  drain(): void {
    this.send(KIND.drain, [])
  }

  reset(): void {
    this.#stream.reset()
  }

  /** True if the stream is open a moment later. */
  async stays(): Promise<boolean> {
    await sleep(systemClock, limits.CONFORMANCE_QUIET_MS)
    return !this.isOver
  }

  async ended(): Promise<boolean> {
    const until = systemClock.elapsed() + limits.CONFORMANCE_RESET_MS
    while (!this.isOver && systemClock.elapsed() < until) await sleep(systemClock, limits.CONFORMANCE_QUIET_MS / 10)
    return this.isOver
  }

  #read(frame: Message, onCall: (call: ReceivedCall) => void): void {
    if (frame.has(KIND.hello)) this.hello ??= new Message(frame.bytes(KIND.hello))
    else if (this.hello === undefined) this.isUnannounced = true
    if (!frame.has(KIND.request)) return
    const request = new Message(frame.bytes(KIND.request))
    const id = request.integer(1)
    if (id <= this.#lastId) this.isUnordered = true
    this.#lastId = id
    onCall({ session: this, id, requestId: request.bytes(2), request })
  }
}

const UNKNOWN_ID = 1_000_000
