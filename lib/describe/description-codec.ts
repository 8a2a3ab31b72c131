import { decodeMessage, encodeMessage } from 'protons-runtime'
import { EMPTY_BYTES } from '../base/bytes.ts'
import { DESCRIPTION_PROOF_HASHES_MAX, DESCRIPTIONS_WANTED_MAX } from '../base/limits/descriptions.ts'
import { append, bytesTag, codec, readSafeInteger, varintTag, writeBytes, writeInteger } from '../base/wire.ts'

/** `souk.DescriptionRequest` of `docs/reference/souk-directory.proto`: documents under one root, by leaf number. */
export interface DescriptionRequest {
  readonly root: Uint8Array
  readonly leaves: readonly number[]
}

/** `souk.ProvenDocument`: a document, and the hashes that prove it. */
export interface ProvenDocument {
  readonly leaf: number
  readonly document: Uint8Array
  readonly path: readonly Uint8Array[]
}

interface RequestMessage {
  root: Uint8Array
  leaves: number[]
}

const requestCodec = codec<RequestMessage>({
  start: () => ({ root: EMPTY_BYTES, leaves: [] }),
  write(value, writer) {
    writeBytes(writer, 1, value.root)
    for (const leaf of value.leaves) writer.uint32(varintTag(2)).uint32(leaf)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.root = reader.bytes()
    else if (tag === varintTag(2)) append(value.leaves, readSafeInteger(reader), DESCRIPTIONS_WANTED_MAX)
    else return false
    return true
  }
})

interface ProvenMessage {
  leaf: number
  document: Uint8Array
  path: Uint8Array[]
}

const provenCodec = codec<ProvenMessage>({
  start: () => ({ leaf: 0, document: EMPTY_BYTES, path: [] }),
  write(value, writer) {
    writeInteger(writer, 1, value.leaf)
    writeBytes(writer, 2, value.document)
    for (const hash of value.path) writer.uint32(bytesTag(3)).bytes(hash)
  },
  read(value, tag, reader) {
    if (tag === varintTag(1)) value.leaf = readSafeInteger(reader)
    else if (tag === bytesTag(2)) value.document = reader.bytes()
    else if (tag === bytesTag(3)) append(value.path, reader.bytes(), DESCRIPTION_PROOF_HASHES_MAX)
    else return false
    return true
  }
})

const replyCodec = codec<{ documents: ProvenMessage[] }>({
  start: () => ({ documents: [] }),
  write(value, writer) {
    for (const document of value.documents) {
      writer.uint32(bytesTag(1))
      provenCodec.encode(document, writer)
    }
  },
  read(value, tag, reader) {
    if (tag !== bytesTag(1)) return false
    return append(value.documents, provenCodec.decode(reader, reader.uint32()), DESCRIPTIONS_WANTED_MAX)
  }
})

export const encodeDescriptionRequest = ({ root, leaves }: DescriptionRequest): Uint8Array =>
  encodeMessage({ root, leaves: [...leaves] }, requestCodec)

export const decodeDescriptionRequest = (bytes: Uint8Array): DescriptionRequest => decodeMessage(bytes, requestCodec)

/** `souk.DescriptionReply`. */
export const encodeDescriptionReply = (documents: readonly ProvenDocument[]): Uint8Array =>
  encodeMessage({ documents: documents.map((each) => ({ ...each, path: [...each.path] })) }, replyCodec)

export const decodeDescriptionReply = (bytes: Uint8Array): readonly ProvenDocument[] =>
  decodeMessage(bytes, replyCodec).documents
