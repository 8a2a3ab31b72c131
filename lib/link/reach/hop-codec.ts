import { HOP_BYTES_MAX } from '../../base/limits/reach.ts'
import { bytes, list, optional, uint32, uint64 } from '../../base/wire/field.ts'
import { message, type MessageOf, nested } from '../../base/wire/message.ts'

/** The messages between a peer and its relay (circuit relay v2, section "Protobuf"). libp2p does not export its codec. */
const HOP_PEER = message('Peer', 'The peer to connect to.', { id: bytes(1) })

/** The size of the message limits the number of addresses. */
const HOP_RESERVATION = message('Reservation', 'What the relay knows about the reservation.', {
  addresses: list(bytes(2, 'Addresses of the relay.'), HOP_BYTES_MAX)
})

const HOP_LIMIT = message('Limit', 'What one circuit may carry. 0 means no limit.', {
  duration: uint32(1, 'Seconds.'),
  data: uint64(2, 'Bytes.')
})
export type HopLimit = MessageOf<typeof HOP_LIMIT>

export const HOP_MESSAGE = message('HopMessage', 'A request to a relay, or its response.', {
  type: optional(uint32(1)),
  peer: nested(HOP_PEER, 2),
  reservation: nested(HOP_RESERVATION, 3),
  limit: nested(HOP_LIMIT, 4),
  status: uint32(5)
})

/** Values of `type`. */
export const HOP_TYPE = { reserve: 0, connect: 1 } as const
/** `Status.OK` */
export const HOP_OK = 100
