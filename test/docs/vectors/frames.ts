import { utf8 } from '../../../lib/base/bytes.ts'
import type { Frame } from '../../../lib/call/frame.ts'
import { encodeFrame } from '../../../lib/call/frame.ts'
import { BODY, hex, identityOf, NOW, REQUEST_ID } from './keys.ts'

const EMPTY = new Uint8Array(0)

/** Frames of every kind: with few fields, and with all. */
export async function frames(): Promise<Readonly<Record<string, Frame>>> {
  const { id: provider } = await identityOf(1)
  const api = `ticker@${provider.toString()}`
  const bare: Extract<Frame, { kind: 'request' }> = {
    kind: 'request',
    id: 1,
    requestId: REQUEST_ID,
    api,
    method: 'POST',
    path: '',
    headers: [],
    body: EMPTY,
    timeoutMs: 29_980,
    revision: 3
  }
  const response: Extract<Frame, { kind: 'response' }> = {
    kind: 'response',
    id: 1,
    status: 200,
    headers: [],
    body: EMPTY,
    charged: 0n,
    receipt: EMPTY,
    ownerUs: 0,
    upstreamUs: 0
  }
  return {
    'hello, few fields': { kind: 'hello', network: '', epoch: 1n, agent: '', inFlightMax: 0 },
    hello: { kind: 'hello', network: 'dev', epoch: BigInt(NOW), agent: 'souk/0.1.0', inFlightMax: 256 },
    'request, few fields': bare,
    'request, body on a bulk stream': { ...bare, id: 2, body: undefined },
    'request, all fields': {
      ...bare,
      id: 300,
      method: 'PUT',
      path: '/candles?interval=1m',
      headers: [
        ['content-type', 'application/json'],
        ['accept', 'application/json']
      ],
      body: BODY,
      maxPrice: 2_000n,
      authorization: utf8('see channel.json'),
      idempotencyKey: 'order-7',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      resentFromEpoch: 0n,
      payment: '',
      consumer: REQUEST_ID,
      keyFirstAt: NOW,
      keyAnswered: true,
      service: 1,
      subscription: REQUEST_ID,
      stream: REQUEST_ID,
      events: 64
    },
    'request, texts that are not ASCII, and zeros that are not absent': {
      ...bare,
      path: '/währung?von=€&zu=株🙂',
      headers: [
        ['', ''],
        ['x-long', 'é'.repeat(100)]
      ],
      maxPrice: 0n,
      authorization: EMPTY,
      resentFromEpoch: 2n ** 64n - 1n,
      consumer: EMPTY,
      keyFirstAt: 2 ** 53 - 1,
      stream: EMPTY
    },
    'response, few fields': response,
    'response, all fields': {
      ...response,
      headers: [['content-type', 'application/json']],
      body: utf8('{"price":1}'),
      charged: 1_000n,
      receipt: utf8('see receipts.json'),
      ownerUs: 1_250,
      upstreamUs: 30_500,
      payment: 'e30=',
      replayed: true,
      rate: { policy: 'default', calls: 100, perMs: 60_000, remaining: 99, resetMs: 0 },
      quota: { included: 1_000, used: 1, limit: 2_000, resetsAt: NOW },
      eventPrice: 10n
    },
    'response, zeros that are not absent': {
      ...response,
      id: 2 ** 53 - 1,
      body: undefined,
      payment: '',
      rate: { policy: '', calls: 0, perMs: 0, remaining: 0, resetMs: 0 },
      quota: { included: 0, used: 0, limit: 0, resetsAt: 0 },
      eventPrice: 0n
    },
    'response, quota without limits, and a body over 127 bytes': {
      ...response,
      charged: 2n ** 64n - 1n,
      body: new Uint8Array(300).fill(7),
      quota: { used: 0, resetsAt: 0 }
    },
    'failure, few fields': {
      kind: 'failure',
      id: 1,
      code: '',
      detail: '',
      status: 0,
      notAccepted: false,
      source: '',
      retryAfterMs: 0,
      members: ''
    },
    failure: {
      kind: 'failure',
      id: 1,
      code: 'rate_limited',
      detail: 'Too many requests.',
      status: 429,
      notAccepted: true,
      source: 'owner',
      retryAfterMs: 600,
      members: '{"reason":"failed_calls"}'
    },
    'ack of nothing': { kind: 'ack', requestIds: [] },
    cancel: { kind: 'cancel', id: 1 },
    ack: { kind: 'ack', requestIds: [REQUEST_ID, REQUEST_ID] },
    drain: { kind: 'drain' }
  }
}

export async function frameVectors(): Promise<readonly MessageVector[]> {
  return Object.entries(await frames()).map(([name, frame]) => ({
    name,
    message: 'souk.call.v1.Frame',
    bytes: hex(encodeFrame(frame))
  }))
}

/** Bytes of one message of a `.proto` file. */
export interface MessageVector {
  readonly name: string
  readonly message: string
  readonly bytes: string
}
