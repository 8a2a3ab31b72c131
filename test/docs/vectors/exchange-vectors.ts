import { sha256, utf8 } from '../../../lib/base/bytes.ts'
import {
  decodeDescriptionReply,
  decodeDescriptionRequest,
  encodeDescriptionReply,
  encodeDescriptionRequest
} from '../../../lib/describe/description-codec.ts'
import {
  decodeDialBackRequest,
  decodeDialBackResponse,
  encodeDialBackRequest,
  encodeDialBackResponse
} from '../../../lib/link/reach/dial-back-codec.ts'
import {
  decodeAnnouncement,
  decodeCatalogueReply,
  decodeCatalogueRequest,
  encodeAnnouncement,
  encodeCatalogueReply,
  encodeCatalogueRequest
} from '../../../lib/resolve/catalogue/catalogue-codec.ts'
import {
  decodeManifestReply,
  decodeManifestRequest,
  encodeManifestReply,
  encodeManifestRequest
} from '../../../lib/resolve/manifest/exchange-codec.ts'
import type { MessageVector } from './frames.ts'
import { BODY, hex, identityOf } from './keys.ts'

/** A message as the code writes it, and the function that reads it back. */
export interface ExchangeVector {
  readonly name: string
  readonly message: string
  readonly value: unknown
  readonly bytes: Uint8Array
  readonly read: (bytes: Uint8Array) => unknown
}

function vector<T>(
  name: string,
  message: string,
  value: T,
  write: (value: T) => Uint8Array,
  read: (bytes: Uint8Array) => unknown
): ExchangeVector {
  return { name, message: `souk.${message}`, value, bytes: write(value), read }
}

/** Messages of `/souk/manifest`, `/souk/catalogue`, `/souk/description`, `/souk/dial-back` and of the topic of announcements. */
export async function exchanges(): Promise<readonly ExchangeVector[]> {
  const { id } = await identityOf(1)
  const [record, manifest] = [utf8('see envelopes.json: record'), utf8('see envelopes.json: manifest')]
  const hash = Uint8Array.from(sha256(manifest))
  const proven = [
    { leaf: 0, document: BODY, path: [hash, hash] },
    { leaf: 70_000, document: BODY, path: [] }
  ]
  const addresses = ['/ip4/192.0.2.7/tcp/4402', '/ip6/2001:db8::7/tcp/4402']
  return [
    vector(
      'one API',
      'ManifestRequest',
      { name: 'ticker', provider: id.toString() },
      encodeManifestRequest,
      decodeManifestRequest
    ),
    vector('all of one name', 'ManifestRequest', { name: 'ticker' }, encodeManifestRequest, decodeManifestRequest),
    vector(
      'two manifests',
      'ManifestReply',
      { manifests: [manifest, manifest] },
      encodeManifestReply,
      decodeManifestReply
    ),
    vector('no manifest', 'ManifestReply', { manifests: [] }, encodeManifestReply, decodeManifestReply),
    vector('with its manifest', 'Announcement', { record, manifest }, encodeAnnouncement, decodeAnnouncement),
    vector('without its manifest', 'Announcement', { record }, encodeAnnouncement, decodeAnnouncement),
    vector(
      'changes',
      'CatalogueRequest',
      { network: 'dev', epoch: 'e1', after: 7, wanted: [] },
      encodeCatalogueRequest,
      decodeCatalogueRequest
    ),
    vector(
      'manifests',
      'CatalogueRequest',
      { network: 'dev', epoch: '', after: 0, wanted: [hash, hash] },
      encodeCatalogueRequest,
      decodeCatalogueRequest
    ),
    vector(
      'changes',
      'CatalogueReply',
      { epoch: 'e1', records: [record, record], through: 300, hasMore: true, manifests: [] },
      encodeCatalogueReply,
      decodeCatalogueReply
    ),
    vector(
      'manifests',
      'CatalogueReply',
      { epoch: 'e1', records: [], through: 0, hasMore: false, manifests: [manifest] },
      encodeCatalogueReply,
      decodeCatalogueReply
    ),
    vector(
      'three documents',
      'DescriptionRequest',
      { root: hash, leaves: [0, 7, 70_000] },
      encodeDescriptionRequest,
      decodeDescriptionRequest
    ),
    vector('two documents', 'DescriptionReply', proven, encodeDescriptionReply, decodeDescriptionReply),
    vector(
      'ports',
      'DialBackRequest',
      { network: 'dev', ports: [4_402, 80], addresses: [] },
      encodeDialBackRequest,
      decodeDialBackRequest
    ),
    vector(
      'addresses',
      'DialBackRequest',
      { network: 'dev', ports: [], addresses },
      encodeDialBackRequest,
      decodeDialBackRequest
    ),
    vector(
      'one of two',
      'DialBackResponse',
      { dialled: addresses, reached: addresses.slice(0, 1) },
      encodeDialBackResponse,
      decodeDialBackResponse
    )
  ]
}

export async function exchangeVectors(): Promise<readonly MessageVector[]> {
  return (await exchanges()).map(({ name, message, bytes }) => ({ name, message, bytes: hex(bytes) }))
}
