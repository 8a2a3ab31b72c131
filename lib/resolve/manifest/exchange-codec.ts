import { PAGE_MAX } from '../../base/limits/directory.ts'
import { bool, bytes, list, nonEmpty, text } from '../../base/wire/field.ts'
import { message, type MessageOf } from '../../base/wire/message.ts'

export const MANIFEST_REQUEST = message(
  'ManifestRequest',
  `Request on a stream of /souk/manifest/1.0.0, length-prefixed (uvarint), at most 1 KiB. One request, one reply. The
  catalogue exchange lists other APIs.`,
  {
    name: text(1, 'With provider: that API. Alone: every API of this name, as many as fit.'),
    provider: nonEmpty(text(2)),
    after: nonEmpty(text(4, 'With provider, without name: the APIs of this provider after this name, by name.'))
  },
  [3]
)
export type ManifestRequest = MessageOf<typeof MANIFEST_REQUEST>

export const MANIFEST_REPLY = message(
  'ManifestReply',
  'Reply, length-prefixed, at most 1 MiB.',
  {
    manifests: list(bytes(1, 'Envelopes over souk.Manifest, at most 100.'), PAGE_MAX),
    hasMore: bool(3, 'The provider has APIs after the last of these.')
  },
  [2]
)
export type ManifestReply = MessageOf<typeof MANIFEST_REPLY>
