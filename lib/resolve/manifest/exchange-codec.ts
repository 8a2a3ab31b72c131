import { decodeMessage, encodeMessage } from 'protons-runtime'
import { PAGE_MAX } from '../../base/limits/directory.ts'
import { append, bytesTag, codec, writeText } from '../../base/wire.ts'

/**
 * `souk.ManifestRequest` of `docs/reference/souk-directory.proto`: one API by name and provider, or all with a bare
 * name. The catalogue exchange lists other APIs.
 */
export interface ManifestRequest {
  readonly name: string
  readonly provider?: string
}

/** `souk.ManifestReply`: signed envelopes. */
export interface ManifestReply {
  readonly manifests: readonly Uint8Array[]
}

interface RequestMessage {
  name: string
  provider: string
}

const requestCodec = codec<RequestMessage>({
  start: () => ({ name: '', provider: '' }),
  write(value, writer) {
    writeText(writer, 1, value.name)
    writeText(writer, 2, value.provider)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.name = reader.string()
    else if (tag === bytesTag(2)) value.provider = reader.string()
    else return false
    return true
  }
})

interface ReplyMessage {
  manifests: Uint8Array[]
}

const replyCodec = codec<ReplyMessage>({
  start: () => ({ manifests: [] }),
  write(value, writer) {
    for (const manifest of value.manifests) writer.uint32(bytesTag(1)).bytes(manifest)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) append(value.manifests, reader.bytes(), PAGE_MAX)
    else return false
    return true
  }
})

export function encodeManifestRequest({ name, provider = '' }: ManifestRequest): Uint8Array {
  return encodeMessage({ name, provider }, requestCodec)
}

export function decodeManifestRequest(bytes: Uint8Array): ManifestRequest {
  const { name, provider } = decodeMessage(bytes, requestCodec)
  return provider === '' ? { name } : { name, provider }
}

export function encodeManifestReply({ manifests }: ManifestReply): Uint8Array {
  return encodeMessage({ manifests: [...manifests] }, replyCodec)
}

export function decodeManifestReply(bytes: Uint8Array): ManifestReply {
  return decodeMessage(bytes, replyCodec)
}
