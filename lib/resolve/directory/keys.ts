import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { create as digest } from 'multiformats/hashes/digest'
import { type ApiId, apiId, isApiName, isProviderId } from '../../base/api-name.ts'
import { sha256, text, utf8 } from '../../base/bytes.ts'

/** Namespace of the DHT keys that `record-rules.ts` validates. */
export const RECORD_NAMESPACE = 'souk'

const SHA2_256 = 0x12

export function splitId(id: ApiId): { name: string; provider: string } {
  const at = id.indexOf('@')
  return { name: id.slice(0, at), provider: id.slice(at + 1) }
}

/** DHT key of a directory record: `/souk/<provider id>/<name>`. */
export function recordKey(id: ApiId): Uint8Array {
  const { name, provider } = splitId(id)
  return utf8(`/${RECORD_NAMESPACE}/${provider}/${name}`)
}

/** Undefined for a key that is not Souk's. */
export function parseRecordKey(key: Uint8Array): ApiId | undefined {
  const [empty, namespace, provider = '', name = '', ...rest] = text(key).split('/')
  const ours = empty === '' && namespace === RECORD_NAMESPACE && rest.length === 0
  return ours && isProviderId(provider) && isApiName(name) ? apiId(name, provider) : undefined
}

/** Keys of provider records: CIDv1, raw, SHA2-256 of `/souk/api/<id>`, `/souk/name/<name>` and so on. */
export const apiCid = (id: ApiId): CID => cidOf(`/souk/api/${id}`)
export const nameCid = (name: string): CID => cidOf(`/souk/name/${name}`)
export const tagCid = (tag: string): CID => cidOf(`/souk/tag/${tag.toLowerCase()}`)
export const catalogueCid = (): CID => cidOf('/souk/catalogue')

function cidOf(subject: string): CID {
  return CID.createV1(raw.code, digest(SHA2_256, sha256(utf8(subject))))
}
