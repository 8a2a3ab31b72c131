import { sha256, utf8 } from '../../../lib/base/bytes.ts'
import type { Message } from '../../../lib/base/wire/message.ts'
import { DESCRIPTION_REPLY, DESCRIPTION_REQUEST } from '../../../lib/describe/description-codec.ts'
import { DIAL_BACK_REQUEST, DIAL_BACK_RESPONSE } from '../../../lib/link/reach/dial-back-codec.ts'
import { ANNOUNCEMENT, CATALOGUE_REPLY, CATALOGUE_REQUEST } from '../../../lib/resolve/catalogue/catalogue-codec.ts'
import { MANIFEST_REPLY, MANIFEST_REQUEST } from '../../../lib/resolve/manifest/exchange-codec.ts'
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

function vector<T>(name: string, table: Message<T>, value: T): ExchangeVector {
  return { name, message: `souk.${table.name}`, value, bytes: table.encode(value), read: table.decode }
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
    vector('one API', MANIFEST_REQUEST, { name: 'ticker', provider: id.toString() }),
    vector('all of one name', MANIFEST_REQUEST, { name: 'ticker' }),
    vector('a page of a provider', MANIFEST_REQUEST, { name: '', provider: id.toString(), after: 'ticker' }),
    vector('two manifests', MANIFEST_REPLY, { manifests: [manifest, manifest], hasMore: false }),
    vector('no manifest', MANIFEST_REPLY, { manifests: [], hasMore: false }),
    vector('with its manifest', ANNOUNCEMENT, { record, manifest }),
    vector('without its manifest', ANNOUNCEMENT, { record }),
    vector('changes', CATALOGUE_REQUEST, { network: 'dev', epoch: 'e1', after: 7, wanted: [] }),
    vector('manifests', CATALOGUE_REQUEST, { network: 'dev', epoch: '', after: 0, wanted: [hash, hash] }),
    vector('changes', CATALOGUE_REPLY, {
      epoch: 'e1',
      records: [record, record],
      through: 300,
      hasMore: true,
      manifests: []
    }),
    vector('manifests', CATALOGUE_REPLY, {
      epoch: 'e1',
      records: [],
      through: 0,
      hasMore: false,
      manifests: [manifest]
    }),
    vector('the time', CATALOGUE_REPLY, {
      epoch: 'e1',
      records: [],
      through: 0,
      hasMore: false,
      manifests: [],
      at: 1_790_000_000_000
    }),
    vector('three documents', DESCRIPTION_REQUEST, { root: hash, leaves: [0, 7, 70_000] }),
    vector('two documents', DESCRIPTION_REPLY, { documents: proven }),
    vector('ports', DIAL_BACK_REQUEST, { network: 'dev', ports: [4_402, 80], addresses: [] }),
    vector('addresses', DIAL_BACK_REQUEST, { network: 'dev', ports: [], addresses }),
    vector('one of two', DIAL_BACK_RESPONSE, { dialled: addresses, reached: addresses.slice(0, 1) })
  ]
}

export async function exchangeVectors(): Promise<readonly MessageVector[]> {
  return (await exchanges()).map(({ name, message, bytes }) => ({ name, message, bytes: hex(bytes) }))
}
