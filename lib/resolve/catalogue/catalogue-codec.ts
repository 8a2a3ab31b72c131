import { CATALOGUE_RECORDS_MAX, CATALOGUE_WANTED_MAX } from '../../base/limits/directory.ts'
import { bool, bytes, list, nonEmpty, text, uint53 } from '../../base/wire/field.ts'
import { message, type MessageOf } from '../../base/wire/message.ts'

export const ANNOUNCEMENT = message(
  'Announcement',
  `A message of the topic /souk/<network>/announcements/1.0.0 (libp2p gossipsub, StrictNoSign), at most 10,496 bytes.`,
  {
    record: bytes(1, 'Envelope over souk.Record, with its network.'),
    manifest: nonEmpty(
      bytes(2, 'Envelope over souk.Manifest, the one that the record names, where it has at most 8 KiB.')
    )
  }
)

export const CATALOGUE_REQUEST = message(
  'CatalogueRequest',
  'Request on a stream of /souk/catalogue/1.0.0, length-prefixed (uvarint), at most 4 KiB. One request, one reply.',
  {
    network: text(1, 'A request of another network is refused.'),
    epoch: text(2, 'Epoch of the previous reply. Empty the first time.'),
    after: uint53(3, 'Its through: asks for the records that changed since.'),
    wanted: list(bytes(4, 'Instead: manifests with these SHA-256 hashes, at most 64.'), CATALOGUE_WANTED_MAX)
  }
)
export type CatalogueRequest = MessageOf<typeof CATALOGUE_REQUEST>

export const CATALOGUE_REPLY = message('CatalogueReply', 'Reply, length-prefixed, at most 1 MiB.', {
  epoch: text(
    1,
    `Identifies one numbering of changes, at most 64 characters. If it differs from that of the request, the reply starts
    from the beginning.`
  ),
  records: list(
    bytes(2, 'Envelopes over souk.Record, with their network, oldest change first, at most 256.'),
    CATALOGUE_RECORDS_MAX
  ),
  through: uint53(3, 'The change number to continue from.'),
  hasMore: bool(4),
  manifests: list(
    bytes(5, 'Envelopes over souk.Manifest that were wanted and are known, as many as fit.'),
    CATALOGUE_WANTED_MAX
  ),
  at: nonEmpty(
    uint53(
      6,
      `Time of the replying node, milliseconds since the epoch. It tells the other whether its own clock may be wrong, and decides
    nothing.`
    )
  )
})
export type CatalogueReply = MessageOf<typeof CATALOGUE_REPLY>
