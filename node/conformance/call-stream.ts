import { limits, requestIds, systemClock, systemRandom } from '../../lib/index.ts'
import type { FramedStream } from './framed-stream.ts'
import { encodeFields, type Field, Message } from './message.ts'

/** Kinds of frames: their field numbers in `souk.call.v1.Frame`. */
export const KIND = { hello: 1, request: 2, response: 3, failure: 4, cancel: 5, ack: 6, drain: 7 } as const

const ids = requestIds(systemClock, systemRandom)

export interface RequestInit {
  readonly id: number
  readonly api: string
  readonly requestId?: Uint8Array
  readonly method?: string
  readonly path?: string
  /** Absent: an empty JSON object. Null: on a bulk stream. */
  readonly body?: Uint8Array | null
  readonly timeoutMs?: number
  readonly resentFromEpoch?: bigint
  /** Further fields of the request. */
  readonly more?: readonly Field[]
}

export const newRequestId = (): Uint8Array => ids.next()

/** A request id that was made at another time. */
export function requestIdAt(ms: number): Uint8Array {
  const id = Buffer.from(ids.next())
  id.writeUIntBE(ms, 0, 6)
  return id
}

/** The peer's response to a request. */
export interface Answer {
  readonly id: number
  readonly isFailure: boolean
  readonly status: number
  readonly code: string
  readonly notAccepted: boolean
  readonly source: string
  readonly body: Uint8Array
  readonly hasBody: boolean
  readonly isReplayed: boolean
}

/** The control stream of one check. */
export class CallStream {
  readonly stream: FramedStream
  /** The peer's hello. */
  readonly hello: Message

  constructor(stream: FramedStream, hello: Message) {
    this.stream = stream
    this.hello = hello
  }

  get network(): string {
    return this.hello.text(1)
  }

  get epoch(): bigint {
    return this.hello.integer(2)
  }

  send(kind: number, fields: readonly Field[]): void {
    this.stream.send(encodeFields([[kind, encodeFields(fields)]]))
  }

  sayHello(network = this.network): void {
    this.send(KIND.hello, [
      [1, network],
      [2, 1],
      [3, 'souk-conformance'],
      [4, limits.IN_FLIGHT_PER_PEER_MAX]
    ])
  }

  request(init: RequestInit): void {
    const {
      id,
      api,
      requestId = newRequestId(),
      method = 'POST',
      path = '',
      timeoutMs = limits.CONFORMANCE_ANSWER_MS
    } = init
    const { body = Buffer.from('{}'), resentFromEpoch, more = [] } = init
    this.send(KIND.request, [
      ...(id === 0 ? [] : [[1, id] as const]),
      [2, requestId],
      [3, api],
      [4, method],
      ...(path === '' ? [] : [[5, path] as const]),
      [
        6,
        encodeFields([
          [1, 'content-type'],
          [2, 'application/json']
        ])
      ],
      ...(body === null ? [] : [[7, body] as const]),
      ...(timeoutMs === 0 ? [] : [[8, timeoutMs] as const]),
      ...(resentFromEpoch === undefined ? [] : [[14, resentFromEpoch] as const]),
      ...more
    ])
  }

  /** The next response or failure. @throws Error if the stream ends first */
  async answer(timeoutMs = limits.CONFORMANCE_ANSWER_MS): Promise<Answer> {
    for (;;) {
      const bytes = await this.stream.next(timeoutMs)
      if (bytes === undefined) throw new Error('the peer ended the stream instead of a response')
      const frame = new Message(bytes)
      if (frame.has(KIND.response)) return responseIn(new Message(frame.bytes(KIND.response)))
      if (frame.has(KIND.failure)) return failureIn(new Message(frame.bytes(KIND.failure)))
    }
  }
}

function responseIn(fields: Message): Answer {
  return {
    id: Number(fields.integer(1)),
    isFailure: false,
    status: Number(fields.integer(2)),
    code: '',
    notAccepted: false,
    source: '',
    body: fields.bytes(4),
    hasBody: fields.has(4),
    isReplayed: fields.integer(10) !== 0n
  }
}

function failureIn(fields: Message): Answer {
  return {
    id: Number(fields.integer(1)),
    isFailure: true,
    status: Number(fields.integer(4)),
    code: fields.text(2),
    notAccepted: fields.integer(5) !== 0n,
    source: fields.text(6),
    body: new Uint8Array(0),
    hasBody: false,
    isReplayed: false
  }
}
