import { DIAL_BACK_ADDRESSES_MAX, DIAL_BACK_PORTS_MAX } from '../../base/limits/reach.ts'
import { list, text, uint32 } from '../../base/wire/field.ts'
import { message, type MessageOf } from '../../base/wire/message.ts'

export const DIAL_BACK_REQUEST = message('DialBackRequest', 'Asks a peer to dial this node.', {
  network: text(1, 'Name of the network. A peer of another network refuses.'),
  ports: list(
    uint32(2, 'TCP ports to dial at the address from which the request came. At most 4.'),
    DIAL_BACK_PORTS_MAX
  ),
  addresses: list(
    text(
      3,
      `Multiaddrs to dial, at most 4. Where a connection between the two nodes is direct: only those with the IP address
      from which the request came, or with a DNS name. Where every connection runs through a relay, which hides the
      address of the asking node: any, for a direct connection.`
    ),
    DIAL_BACK_ADDRESSES_MAX
  )
})
export type DialBackRequest = MessageOf<typeof DIAL_BACK_REQUEST>

/** A peer with several addresses is dialled at each of its ports. */
const DIALLED_MAX = DIAL_BACK_PORTS_MAX * DIAL_BACK_ADDRESSES_MAX

export const DIAL_BACK_RESPONSE = message('DialBackResponse', 'Sent when the dials are over.', {
  dialled: list(text(1, 'The multiaddrs that were dialled.'), DIALLED_MAX),
  reached: list(text(2, 'The dialled addresses at which the asking node answered.'), DIALLED_MAX)
})
export type DialBackResponse = MessageOf<typeof DIAL_BACK_RESPONSE>
