import { bool, bytes, list, nonEmpty, optional, text, uint32, uint53, uint64 } from '../base/wire/field.ts'
import { fixedMessage, message, type MessageOf, nested } from '../base/wire/message.ts'
import { union, type UnionOf } from '../base/wire/union.ts'
import { headers } from './headers-field.ts'

/** The messages of `/souk/call/1.0.0`, one per frame. `docs/reference/souk-call.proto` is made from these tables. */

export const HELLO = message('Hello', 'The first frame of each side. A later one is ignored.', {
  network: text(1, 'Name of the network. A peer of another network is disconnected.'),
  epoch: uint64(2, 'Boot epoch of the sender’s process. It increases with every start.'),
  agent: text(3, 'Name and version, for people.'),
  inFlightMax: uint53(4, 'Concurrent calls that the sender accepts from the receiver. 0: none, the sender only calls.')
})

export const REQUEST = fixedMessage(
  'Request',
  'A call. The receiver sends one Response or one Failure with the same id, in any order, or nothing after a Cancel.',
  {
    id: uint53(
      1,
      `Identifies the call on this stream in this direction: 1 or more, and above every earlier one. Any other value
      ends the stream.`
    ),
    requestId: bytes(2, 'UUID version 7, 16 bytes. Identifies the call everywhere. A repeat of the call has the same.'),
    api: text(3, 'name@provider id'),
    method: text(4, 'HTTP method, upper case. POST for a plain call.'),
    path: text(5, 'Empty, or starting with / or ?; at most PATH_BYTES_MAX.'),
    headers: headers(6),
    body: optional(bytes(7, 'At most INLINE_BODY_BYTES_MAX. Absent (not empty) when a bulk stream carries the body.')),
    timeoutMs: uint53(
      8,
      'Time left, milliseconds. The owner gives up by then. 0: the call has no time left and is not run.'
    ),
    revision: uint53(9, 'Manifest revision that the consumer knows.'),
    maxPrice: optional(
      uint64(10, 'Price limit of the consumer, USDC atoms (10^-6). Absent: whatever the manifest says.')
    ),
    authorization: optional(bytes(11, 'Data of the payer’s payment scheme, in the format of that scheme.')),
    idempotencyKey: nonEmpty(text(12, 'At most IDEMPOTENCY_KEY_CHARS_MAX. Empty: none.')),
    traceparent: nonEmpty(text(13, 'W3C trace context. Empty: none.')),
    resentFromEpoch: optional(
      uint64(
        14,
        `Present on a repeat after the stream broke: the epoch of the Hello under which the call was first sent. 0: the
        process that sent it has ended and its epoch is lost.`
      )
    ),
    payment: optional(
      text(
        15,
        `A payment by the client instead of this consumer node, which forwards it unchanged: the value of an x402 v2
        PAYMENT-SIGNATURE header, at most PAYMENT_CHARS_MAX. Empty: none yet. The call is not run then, and the failure
        says in its member \`x402\` how to pay. With a payment there is no authorization.`
      )
    ),
    consumer: optional(
      bytes(
        16,
        `The caller, 16 bytes: the consumer node's pseudonym for one of its accounts at this provider. It is always the
        same, and unknown to anybody else. Limits and idempotency keys count by it. Absent: the node calls for itself,
        and they count by its peer id.`
      )
    ),
    keyFirstAt: uint53(
      17,
      `Time the consumer node first sent a request with the same idempotency_key to this owner, milliseconds since the
      epoch. 0: it knows no earlier request.`
    ),
    keyAnswered: bool(18, 'That earlier request got a response.'),
    service: uint32(
      20,
      `Part of the listing that the call is for. 0: the API itself. 1: its subscriptions, see
      docs/reference/protocol-subscriptions.md. An owner refuses any other value.`
    ),
    subscription: optional(
      bytes(
        21,
        'Id of the subscription whose terms apply, 16 bytes. An owner accepts it only from the peers that it names.'
      )
    ),
    stream: optional(
      bytes(
        30,
        `Request id of a call whose response from this owner is a stream of events with a price each. Nothing is run:
        the call pays for further events of that stream, once there are some. The response is 200 (paid, see charged and
        receipt), 204 (no event needs payment yet) or 410 (the stream has ended).`
      )
    ),
    events: uint53(
      31,
      `With stream: the most events that the call pays for. 0: the payer will pay for no more. Without stream: events
      that the payer will pay for if the response is a stream.`
    )
  }
)

export const RATE = message(
  'Rate',
  `Status of a rate limit after a call. A Failure by the limit has the same in its member \`rate_limit\`, with per_ms
  and reset_ms.`,
  {
    policy: text(1, 'Name of the limit. `default` for the listing’s own.'),
    calls: uint53(2),
    perMs: uint53(3),
    remaining: uint53(4, 'Calls allowed right now.'),
    resetMs: uint53(5, 'Milliseconds until one more call is allowed.')
  }
)

export const QUOTA = message('Quota', 'How much of a subscription’s period is used.', {
  included: optional(uint53(1, 'Calls that the fee of the period includes. Absent: unlimited.')),
  used: uint53(
    2,
    'Calls of the period, overage included. Calls reserved by other replicas of the owner count as used.'
  ),
  limit: optional(uint53(3, 'Most calls in this period, at any price. Absent: no limit.')),
  resetsAt: uint53(4, 'End of the period, milliseconds since the Unix epoch.')
})

export const RESPONSE = fixedMessage(
  'Response',
  'The response of the API. The owner has stored its outcome before it sends this.',
  {
    id: uint53(1),
    status: uint32(2, 'HTTP status.'),
    headers: headers(3),
    body: optional(bytes(4, 'At most INLINE_BODY_BYTES_MAX. Absent (not empty) when a bulk stream carries the body.')),
    charged: uint64(5, 'USDC atoms.'),
    receipt: bytes(6, 'The owner’s signed statement, in the format of the payment scheme. Empty: none.'),
    ownerUs: uint53(7, 'Time at the owner without the upstream, microseconds.'),
    upstreamUs: uint53(8, 'Time at the upstream, microseconds.'),
    payment: optional(text(9, 'Result of the request’s payment: the value of the PAYMENT-RESPONSE header.')),
    replayed: bool(
      10,
      'The response was stored for an earlier request with the same idempotency_key. This one is not charged.'
    ),
    rate: nested(RATE, 11, 'Status of the rate limit, where there is one.'),
    quota: nested(QUOTA, 20, 'Quota of the call’s subscription, this call included.'),
    eventPrice: optional(
      uint64(
        30,
        'The body is a stream whose further events are paid for by requests with `stream`: USDC atoms for each.'
      )
    )
  }
)

export const FAILURE = fixedMessage('Failure', 'An error instead of a response.', {
  id: uint53(1),
  code: text(2, 'A code of docs/reference/errors.md. An unknown code means internal_error.'),
  detail: text(3, 'For people, safe to show; at most FAILURE_DETAIL_CHARS_MAX.'),
  status: uint32(4, 'HTTP status of the problem.'),
  notAccepted: bool(
    5,
    `Nothing happened: another owner may be tried. On a repeat with the code overloaded, the first attempt may still be
    running.`
  ),
  source: text(
    6,
    'Origin of the fault: owner, upstream, or ingress for the consumer node. Any other value means owner.'
  ),
  retryAfterMs: uint53(7, 'Time to wait before a repeat, milliseconds. 0: not said.'),
  members: text(
    8,
    'Further public members of the problem as a JSON object, at most FAILURE_MEMBERS_CHARS_MAX. Empty: none.'
  )
})

export const CANCEL = message(
  'Cancel',
  'The consumer no longer waits for the call. There is no response to it. For a call that has ended it means nothing.',
  { id: uint53(1) }
)

export const ACK = message(
  'Ack',
  'The consumer has stored these responses: the owner need not keep them for a repeat.',
  {
    requestIds: list(bytes(1), Number.MAX_SAFE_INTEGER)
  }
)

export const DRAIN = message(
  'Drain',
  'The sender is stopping: send it no new requests. Running ones are completed.',
  {}
)

export const FRAME = union(
  'Frame',
  `Exactly one kind is set. A receiver ignores frames of an unknown kind, and unknown fields of the others. This is how
  the protocol grows.`,
  {
    hello: [1, HELLO],
    request: [2, REQUEST],
    response: [3, RESPONSE],
    failure: [4, FAILURE],
    cancel: [5, CANCEL],
    ack: [6, ACK],
    drain: [7, DRAIN]
  }
)

/** @returns undefined for an unknown kind, which the caller ignores. @throws RangeError on malformed bytes */
export function decodeFrame(encoded: Uint8Array): Frame | undefined {
  return FRAME.decode(encoded)
}

/** Expected size of a frame without its body. Headers are few and short. */
const HEAD_BYTES = 512

export function encodeFrame(frame: Frame): Uint8Array {
  return FRAME.encode(frame, HEAD_BYTES + ('body' in frame ? (frame.body?.length ?? 0) : 0))
}

export type Frame = UnionOf<typeof FRAME>
export type Hello = MessageOf<typeof HELLO>
export type RequestFrame = MessageOf<typeof REQUEST>
export type ResponseFrame = MessageOf<typeof RESPONSE>
export type FailureFrame = MessageOf<typeof FAILURE>
