import { DESCRIPTION_PROOF_HASHES_MAX, DESCRIPTIONS_WANTED_MAX } from '../base/limits/descriptions.ts'
import { bytes, list, uint32 } from '../base/wire/field.ts'
import { message, type MessageOf, nested } from '../base/wire/message.ts'

export const DESCRIPTION_REQUEST = message(
  'DescriptionRequest',
  'Request on a stream of /souk/description/1.0.0, length-prefixed (uvarint), at most 4 KiB. One request, one reply.',
  {
    root: bytes(1, 'Root of a manifest’s DescriptionRoot.'),
    leaves: list(uint32(2, 'Numbers of the wanted leaves, from 0, at most 512.'), DESCRIPTIONS_WANTED_MAX)
  }
)

export const PROVEN_DOCUMENT = message('ProvenDocument', 'A document, and the hashes that prove it.', {
  leaf: uint32(1),
  document: bytes(2, 'At most 1 MiB.'),
  path: list(
    bytes(3, 'Hashes of the neighbours, from the leaf to the root, 32 bytes each.'),
    DESCRIPTION_PROOF_HASHES_MAX
  )
})
export type ProvenDocument = MessageOf<typeof PROVEN_DOCUMENT>

export const DESCRIPTION_REPLY = message('DescriptionReply', 'Reply, length-prefixed, at most 2 MiB + 64 KiB.', {
  documents: list(
    nested(
      PROVEN_DOCUMENT,
      1,
      'The wanted documents that the peer has, in the order of the request, as many as fit. Request the rest again.'
    ),
    DESCRIPTIONS_WANTED_MAX
  )
})
