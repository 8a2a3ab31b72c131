import { bool, bytes, list, text, uint32, uint53, uint64 } from '../base/wire/field.ts'
import { fixedMessage, message, type MessageOf } from '../base/wire/message.ts'
import { union, type UnionOf } from '../base/wire/union.ts'
import { REQUEST, RESPONSE } from '../interface/call-messages.ts'

/** The messages of `/souk/call/1.0.0`, one per frame. `docs/reference/souk-call.proto` is made from these tables. */

export const HELLO = message('Hello', 'The first frame of each side. A later one is ignored.', {
  network: text(1, 'Name of the network. A peer of another network is disconnected.'),
  epoch: uint64(2, 'Boot epoch of the sender’s process. It increases with every start.'),
  agent: text(3, 'Name and version, for people.'),
  inFlightMax: uint53(4, 'Concurrent calls that the sender accepts from the receiver. 0: none, the sender only calls.')
})

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
  `The consumer no longer waits for the call. The owner may still send a Response or a Failure, which the consumer
  ignores. For a call that has ended it means nothing.`,
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
export type FailureFrame = MessageOf<typeof FAILURE>
