import type { Reader } from 'protons-runtime'
import { EMPTY_BYTES } from '../base/bytes.ts'
import type { FailureFrame, Frame, ResponseFrame } from './frame.ts'
import {
  BYTES,
  knownField,
  readHeader,
  readNumber,
  readText,
  readRate,
  VARINT,
  writeHeaders,
  writeNumber,
  writeOptionalBytes,
  writeOptionalText,
  writeRate,
  writeText
} from './frame-fields.ts'
import type { MessageBytes } from './message-bytes.ts'
import { readQuota, writeQuota } from './quota-field.ts'

/** Codec of the two messages that end a call. Each table maps the known fields to their wire types. */
const RESPONSE = {
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
  11: BYTES,
  20: BYTES,
  30: VARINT
} as const
const FAILURE = { 1: VARINT, 2: BYTES, 3: BYTES, 4: VARINT, 5: VARINT, 6: BYTES, 7: VARINT, 8: BYTES } as const

export function writeResponse(response: ResponseFrame, w: MessageBytes): void {
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
  writeQuota(w, 20, response.quota)
  if (response.eventPrice !== undefined) w.bigint(30, response.eventPrice)
}

export function readResponse(r: Reader, end: number): Frame {
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
    rate: undefined,
    quota: undefined,
    eventPrice: undefined
  }
  while (r.pos < end) {
    const field = knownField(r, RESPONSE)
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
        response.payment = readText(r)
        break
      case 10:
        response.replayed = r.bool()
        break
      case 11:
        response.rate = readRate(r, end)
        break
      case 20:
        response.quota = readQuota(r, end)
        break
      case 30:
        response.eventPrice = r.uint64()
        break
    }
  }
  return { kind: 'response', ...response }
}

export function writeFailure(failure: FailureFrame, w: MessageBytes): void {
  writeNumber(w, 1, failure.id)
  writeText(w, 2, failure.code)
  writeText(w, 3, failure.detail)
  writeNumber(w, 4, failure.status)
  writeNumber(w, 5, failure.notAccepted ? 1 : 0)
  writeText(w, 6, failure.source)
  writeNumber(w, 7, failure.retryAfterMs)
  writeText(w, 8, failure.members)
}

export function readFailure(r: Reader, end: number): Frame {
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
    const field = knownField(r, FAILURE)
    switch (field) {
      case 1:
        failure.id = readNumber(r)
        break
      case 2:
        failure.code = readText(r)
        break
      case 3:
        failure.detail = readText(r)
        break
      case 4:
        failure.status = readNumber(r)
        break
      case 5:
        failure.notAccepted = r.bool()
        break
      case 6:
        failure.source = readText(r)
        break
      case 7:
        failure.retryAfterMs = readNumber(r)
        break
      case 8:
        failure.members = readText(r)
        break
    }
  }
  return { kind: 'failure', ...failure }
}
