import { type Reader, reader } from 'protons-runtime'
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { FailureFrame, Frame, Hello, RequestFrame, ResponseFrame } from './frame.ts'
import {
  BYTES,
  endOfMessage,
  knownField,
  readHeader,
  readNumber,
  readRate,
  skip,
  tag,
  VARINT,
  writeHeaders,
  writeNumber,
  writeOptionalBytes,
  writeOptionalText,
  writeRate,
  writeText
} from './frame-fields.ts'
import { MessageBytes } from './message-bytes.ts'

/** All of a frame but its body: headers are few and short. */
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

/** @returns undefined for a kind this version does not know, which is to be ignored. @throws Error on malformed bytes */
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
    if ((key & 7) !== BYTES) throw new RangeError('a kind of frame is not a message')
    const end = endOfMessage(r, r.len)
    frame = decode(r, end)
    if (r.pos !== end) throw new RangeError('a field runs past its message')
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

/** Wire types of the fields this version knows, by message. */
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
    16: BYTES
  },
  response: {
    1: VARINT,
    2: VARINT,
    3: BYTES,
    4: BYTES,
    5: VARINT,
    6: BYTES,
    7: VARINT,
    8: VARINT,
    9: BYTES,
    10: VARINT,
    11: BYTES
  },
  failure: { 1: VARINT, 2: BYTES, 3: BYTES, 4: VARINT, 5: VARINT, 6: BYTES, 7: VARINT, 8: BYTES }
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
        network = r.string()
        break
      case 2:
        epoch = r.uint64()
        break
      case 3:
        agent = r.string()
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
}

function readRequest(r: Reader, end: number): Frame {
  const headers: Array<[string, string]> = []
  const request: { -readonly [K in keyof RequestFrame]: RequestFrame[K] } = {
    id: 0,
    requestId: EMPTY_BYTES,
    api: '',
    method: '',
    path: '',
    headers,
    body: undefined,
    timeoutMs: 0,
    revision: 0,
    maxPrice: undefined,
    authorization: undefined,
    idempotencyKey: undefined,
    traceparent: undefined,
    resentFromEpoch: undefined,
    payment: undefined,
    consumer: undefined
  }
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
        request.api = r.string()
        break
      case 4:
        request.method = r.string()
        break
      case 5:
        request.path = r.string()
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
        request.idempotencyKey = r.string()
        break
      case 13:
        request.traceparent = r.string()
        break
      case 14:
        request.resentFromEpoch = r.uint64()
        break
      case 15:
        request.payment = r.string()
        break
      case 16:
        request.consumer = r.bytes()
        break
    }
  }
  return { kind: 'request', ...request }
}

function writeResponse(response: ResponseFrame, w: MessageBytes): void {
  writeNumber(w, 1, response.id)
  writeNumber(w, 2, response.status)
  writeHeaders(w, 3, response.headers)
  writeOptionalBytes(w, 4, response.body)
  if (response.charged !== 0n) w.bigint(5, response.charged)
  if (response.receipt.length > 0) writeOptionalBytes(w, 6, response.receipt)
  writeNumber(w, 7, response.ownerUs)
  writeNumber(w, 8, response.upstreamUs)
  writeOptionalText(w, 9, response.payment)
  writeNumber(w, 10, response.replayed ? 1 : 0)
  if (response.rate !== undefined) writeRate(w, 11, response.rate)
}

function readResponse(r: Reader, end: number): Frame {
  const headers: Array<[string, string]> = []
  const response: { -readonly [K in keyof ResponseFrame]: ResponseFrame[K] } = {
    id: 0,
    status: 0,
    headers,
    body: undefined,
    charged: 0n,
    receipt: EMPTY_BYTES,
    ownerUs: 0,
    upstreamUs: 0,
    payment: undefined,
    replayed: false,
    rate: undefined
  }
  while (r.pos < end) {
    const field = knownField(r, FIELDS.response)
    switch (field) {
      case 1:
        response.id = readNumber(r)
        break
      case 2:
        response.status = readNumber(r)
        break
      case 3:
        headers.push(readHeader(r, end))
        break
      case 4:
        response.body = r.bytes()
        break
      case 5:
        response.charged = r.uint64()
        break
      case 6:
        response.receipt = r.bytes()
        break
      case 7:
        response.ownerUs = readNumber(r)
        break
      case 8:
        response.upstreamUs = readNumber(r)
        break
      case 9:
        response.payment = r.string()
        break
      case 10:
        response.replayed = r.bool()
        break
      case 11:
        response.rate = readRate(r, end)
        break
    }
  }
  return { kind: 'response', ...response }
}

function writeFailure(failure: FailureFrame, w: MessageBytes): void {
  writeNumber(w, 1, failure.id)
  writeText(w, 2, failure.code)
  writeText(w, 3, failure.detail)
  writeNumber(w, 4, failure.status)
  writeNumber(w, 5, failure.notAccepted ? 1 : 0)
  writeText(w, 6, failure.source)
  writeNumber(w, 7, failure.retryAfterMs)
  writeText(w, 8, failure.members)
}

function readFailure(r: Reader, end: number): Frame {
  const failure: { -readonly [K in keyof FailureFrame]: FailureFrame[K] } = {
    id: 0,
    code: '',
    detail: '',
    status: 0,
    notAccepted: false,
    source: '',
    retryAfterMs: 0,
    members: ''
  }
  while (r.pos < end) {
    const field = knownField(r, FIELDS.failure)
    switch (field) {
      case 1:
        failure.id = readNumber(r)
        break
      case 2:
        failure.code = r.string()
        break
      case 3:
        failure.detail = r.string()
        break
      case 4:
        failure.status = readNumber(r)
        break
      case 5:
        failure.notAccepted = r.bool()
        break
      case 6:
        failure.source = r.string()
        break
      case 7:
        failure.retryAfterMs = readNumber(r)
        break
      case 8:
        failure.members = r.string()
        break
    }
  }
  return { kind: 'failure', ...failure }
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
