import { type Reader, reader } from 'protons-runtime'
import { EMPTY_BYTES } from '../base/bytes.ts'
import { readFailure, readResponse, writeFailure, writeResponse } from './response-codec.ts'
import type { Frame, Hello, RequestFrame } from './frame.ts'
import {
  BYTES,
  endOfMessage,
  knownField,
  readHeader,
  readNumber,
  readText,
  skip,
  tag,
  VARINT,
  writeHeaders,
  writeNumber,
  writeOptionalBytes,
  writeOptionalText,
  writeText
} from './frame-fields.ts'
import { MessageBytes } from './message-bytes.ts'

/** Initial buffer for a frame without its body. Headers are few and short. */
const HEAD_BYTES = 512

/** Field numbers of `message Frame`'s oneof. */
const KIND = { hello: 1, request: 2, response: 3, failure: 4, cancel: 5, ack: 6, drain: 7 } as const

export function encodeFrame(frame: Frame): Uint8Array {
  const w = new MessageBytes(HEAD_BYTES + ('body' in frame ? (frame.body?.length ?? 0) : 0))
  switch (frame.kind) {
    case 'request':
      writeRequest(frame, w)
      break
    case 'response':
      writeResponse(frame, w)
      break
    case 'failure':
      writeFailure(frame, w)
      break
    case 'hello':
      writeHello(frame, w)
      break
    case 'cancel':
      writeNumber(w, 1, frame.id)
      break
    case 'ack':
      for (const id of frame.requestIds) w.bytes(1, id)
      break
    case 'drain':
      break
  }
  return w.finish(KIND[frame.kind])
}

/** @returns undefined for an unknown kind, which the caller ignores. @throws Error on malformed bytes */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  const r = reader(bytes)
  let frame: Frame | undefined
  while (r.pos < r.len) {
    const key = r.uint32()
    const decode = DECODERS.get(key >>> 3)
    if (decode === undefined) {
      skip(r, key)
      continue
    }
    if ((key & 7) !== BYTES) throw new RangeError('the kind of a frame must be a message')
    const end = endOfMessage(r, r.len)
    frame = decode(r, end)
    if (r.pos !== end) throw new RangeError('a field is longer than its message')
  }
  return frame
}

const DECODERS = new Map<number, (r: Reader, end: number) => Frame>([
  [KIND.hello, readHello],
  [KIND.request, readRequest],
  [KIND.response, readResponse],
  [KIND.failure, readFailure],
  [KIND.cancel, readCancel],
  [KIND.ack, readAck],
  [KIND.drain, readDrain]
])

/** Wire types of the known fields, by message. */
const FIELDS = {
  hello: { 1: BYTES, 2: VARINT, 3: BYTES, 4: VARINT },
  request: {
    1: VARINT,
    2: BYTES,
    3: BYTES,
    4: BYTES,
    5: BYTES,
    6: BYTES,
    7: BYTES,
    8: VARINT,
    9: VARINT,
    10: VARINT,
    11: BYTES,
    12: BYTES,
    13: BYTES,
    14: VARINT,
    15: BYTES,
    16: BYTES,
    17: VARINT,
    18: VARINT,
    20: VARINT,
    21: BYTES,
    30: BYTES,
    31: VARINT
  }
} as const satisfies Record<string, Readonly<Record<number, number>>>

// ── Messages ────────────────────────────────────────────────────────────────────────────────────────────────────────

function writeHello(hello: Hello, w: MessageBytes): void {
  writeText(w, 1, hello.network)
  w.bigint(2, hello.epoch)
  writeText(w, 3, hello.agent)
  writeNumber(w, 4, hello.inFlightMax)
}

function readHello(r: Reader, end: number): Frame {
  let network = ''
  let epoch = 0n
  let agent = ''
  let inFlightMax = 0
  while (r.pos < end) {
    const field = knownField(r, FIELDS.hello)
    switch (field) {
      case 1:
        network = readText(r)
        break
      case 2:
        epoch = r.uint64()
        break
      case 3:
        agent = readText(r)
        break
      case 4:
        inFlightMax = readNumber(r)
        break
    }
  }
  return { kind: 'hello', network, epoch, agent, inFlightMax }
}

function writeRequest(request: RequestFrame, w: MessageBytes): void {
  writeNumber(w, 1, request.id)
  w.bytes(2, request.requestId)
  writeText(w, 3, request.api)
  writeText(w, 4, request.method)
  writeText(w, 5, request.path)
  writeHeaders(w, 6, request.headers)
  writeOptionalBytes(w, 7, request.body)
  writeNumber(w, 8, request.timeoutMs)
  writeNumber(w, 9, request.revision)
  if (request.maxPrice !== undefined) w.bigint(10, request.maxPrice)
  writeOptionalBytes(w, 11, request.authorization)
  writeText(w, 12, request.idempotencyKey ?? '')
  writeText(w, 13, request.traceparent ?? '')
  if (request.resentFromEpoch !== undefined) w.bigint(14, request.resentFromEpoch)
  writeOptionalText(w, 15, request.payment)
  writeOptionalBytes(w, 16, request.consumer)
  writeNumber(w, 17, request.keyFirstAt)
  writeNumber(w, 18, request.keyAnswered ? 1 : 0)
  writeNumber(w, 20, request.service)
  writeOptionalBytes(w, 21, request.subscription)
  writeOptionalBytes(w, 30, request.stream)
  writeNumber(w, 31, request.events)
}

type RequestMessage = { -readonly [K in keyof RequestFrame]: RequestFrame[K] }

const emptyRequest = (): Omit<RequestMessage, 'headers'> => ({
  id: 0,
  requestId: EMPTY_BYTES,
  api: '',
  method: '',
  path: '',
  body: undefined,
  timeoutMs: 0,
  revision: 0,
  maxPrice: undefined,
  authorization: undefined,
  idempotencyKey: undefined,
  traceparent: undefined,
  resentFromEpoch: undefined,
  payment: undefined,
  consumer: undefined,
  keyFirstAt: 0,
  keyAnswered: false,
  service: 0,
  subscription: undefined,
  stream: undefined,
  events: 0
})

function readRequest(r: Reader, end: number): Frame {
  const headers: Array<[string, string]> = []
  const request: RequestMessage = { ...emptyRequest(), headers }
  while (r.pos < end) {
    const field = knownField(r, FIELDS.request)
    switch (field) {
      case 1:
        request.id = readNumber(r)
        break
      case 2:
        request.requestId = r.bytes()
        break
      case 3:
        request.api = readText(r)
        break
      case 4:
        request.method = readText(r)
        break
      case 5:
        request.path = readText(r)
        break
      case 6:
        headers.push(readHeader(r, end))
        break
      case 7:
        request.body = r.bytes()
        break
      case 8:
        request.timeoutMs = readNumber(r)
        break
      case 9:
        request.revision = readNumber(r)
        break
      case 10:
        request.maxPrice = r.uint64()
        break
      case 11:
        request.authorization = r.bytes()
        break
      case 12:
        request.idempotencyKey = readText(r)
        break
      case 13:
        request.traceparent = readText(r)
        break
      case 14:
        request.resentFromEpoch = r.uint64()
        break
      case 15:
        request.payment = readText(r)
        break
      case 16:
        request.consumer = r.bytes()
        break
      case 17:
        request.keyFirstAt = readNumber(r)
        break
      case 18:
        request.keyAnswered = readNumber(r) !== 0
        break
      case 20:
        request.service = readNumber(r)
        break
      case 21:
        request.subscription = r.bytes()
        break
      case 30:
        request.stream = r.bytes()
        break
      case 31:
        request.events = readNumber(r)
        break
    }
  }
  return { kind: 'request', ...request }
}

function readCancel(r: Reader, end: number): Frame {
  let id = 0
  while (r.pos < end) {
    const key = r.uint32()
    if (key === tag(1, VARINT)) id = readNumber(r)
    else skip(r, key)
  }
  return { kind: 'cancel', id }
}

function readAck(r: Reader, end: number): Frame {
  const requestIds: Uint8Array[] = []
  while (r.pos < end) {
    const key = r.uint32()
    if (key === tag(1, BYTES)) requestIds.push(r.bytes())
    else skip(r, key)
  }
  return { kind: 'ack', requestIds }
}

function readDrain(r: Reader, end: number): Frame {
  while (r.pos < end) skip(r, r.uint32())
  return { kind: 'drain' }
}
