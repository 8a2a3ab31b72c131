import { decodeMessage, encodeMessage } from 'protons-runtime'
import { PAGE_MAX } from '../base/limits.ts'
import { append, bytesTag, codec, writeText } from '../base/wire.ts'

/**
 * `souk.ManifestRequest` of `docs/reference/souk-directory.proto`: one API by name and provider, all of a bare name, or, without a
 * name, a page of everything that is served, after `cursor`.
 */
export interface ManifestRequest {
  readonly name?: string
  readonly provider?: string
  readonly cursor?: string
}

/** `souk.ManifestReply`: signed envelopes, and where the next page starts when there is one. */
export interface ManifestReply {
  readonly manifests: readonly Uint8Array[]
  readonly next?: string
}

interface RequestMessage {
  name: string
  provider: string
  cursor: string
}

const requestCodec = codec<RequestMessage>({
  start: () => ({ name: '', provider: '', cursor: '' }),
  write(value, writer) {
    writeText(writer, 1, value.name)
    writeText(writer, 2, value.provider)
    writeText(writer, 3, value.cursor)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.name = reader.string()
    else if (tag === bytesTag(2)) value.provider = reader.string()
    else if (tag === bytesTag(3)) value.cursor = reader.string()
    else return false
    return true
  }
})

interface ReplyMessage {
  manifests: Uint8Array[]
  next: string
}

const replyCodec = codec<ReplyMessage>({
  start: () => ({ manifests: [], next: '' }),
  write(value, writer) {
    for (const manifest of value.manifests) writer.uint32(bytesTag(1)).bytes(manifest)
    writeText(writer, 2, value.next)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) append(value.manifests, reader.bytes(), PAGE_MAX)
    else if (tag === bytesTag(2)) value.next = reader.string()
    else return false
    return true
  }
})

export function encodeManifestRequest({ name = '', provider = '', cursor = '' }: ManifestRequest): Uint8Array {
  return encodeMessage({ name, provider, cursor }, requestCodec)
}

export function decodeManifestRequest(bytes: Uint8Array): ManifestRequest {
  const { name, provider, cursor } = decodeMessage(bytes, requestCodec)
  return { ...optional('name', name), ...optional('provider', provider), ...optional('cursor', cursor) }
}

export function encodeManifestReply({ manifests, next = '' }: ManifestReply): Uint8Array {
  return encodeMessage({ manifests: [...manifests], next }, replyCodec)
}

export function decodeManifestReply(bytes: Uint8Array): ManifestReply {
  const { manifests, next } = decodeMessage(bytes, replyCodec)
  return { manifests, ...optional('next', next) }
}

const optional = (key: string, value: string) => (value === '' ? {} : { [key]: value })
