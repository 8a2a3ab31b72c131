import { bool, bytes, nonEmpty, optional, text, uint32, uint53, uint64 } from '../base/wire/field.ts'
import { headers } from '../base/wire/headers.ts'
import { fixedMessage, message, type MessageOf, nested } from '../base/wire/message.ts'

/**
 * A call and its response, as the link carries them. `Call`, `IncomingCall` and `CallResponse` have the fields of these
 * tables. A new field is a row here, and the code that sets and reads it.
 */

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
    idempotencyKey: nonEmpty(text(12, 'ASCII from space to ~, at most IDEMPOTENCY_KEY_CHARS_MAX. Empty: none.')),
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
    keyFirstAt: nonEmpty(
      uint53(
        17,
        `Time the consumer node first sent a request with the same idempotency_key to this owner, milliseconds since the
      epoch. 0: it knows no earlier request.`
      )
    ),
    keyAnswered: nonEmpty(bool(18, 'That earlier request got a response.')),
    service: nonEmpty(
      uint32(
        20,
        `Part of the listing that the call is for. 0: the API itself. 1: its subscriptions, see
      docs/reference/protocol-subscriptions.md. An owner refuses any other value.`
      )
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
    events: nonEmpty(
      uint53(
        31,
        `With stream: the most events that the call pays for. 0: the payer will pay for no more. Without stream: events
      that the payer will pay for if the response is a stream.`
      )
    )
  },
  (start) => ({ ...start })
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
    replayed: nonEmpty(
      bool(10, 'The response was stored for an earlier request with the same idempotency_key. This one is not charged.')
    ),
    rate: nested(RATE, 11, 'Status of the rate limit, where there is one.'),
    quota: nested(QUOTA, 20, 'Quota of the call’s subscription, this call included.'),
    eventPrice: optional(
      uint64(
        30,
        'The body is a stream whose further events are paid for by requests with `stream`: USDC atoms for each.'
      )
    )
  },
  (start) => ({ ...start })
)

export type RequestFrame = MessageOf<typeof REQUEST>
export type ResponseFrame = MessageOf<typeof RESPONSE>
