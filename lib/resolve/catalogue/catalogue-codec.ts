import { decodeMessage, encodeMessage } from 'protons-runtime'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { CATALOGUE_RECORDS_MAX, CATALOGUE_WANTED_MAX } from '../../base/limits/directory.ts'
import {
  append,
  bytesTag,
  codec,
  readSafeInteger,
  varintTag,
  writeBytes,
  writeInteger,
  writeText
} from '../../base/wire.ts'

/** `souk.Announcement` of `docs/reference/souk-directory.proto`: a record, and its manifest where small. */
export interface Announcement {
  readonly record: Uint8Array
  readonly manifest?: Uint8Array
}

interface AnnouncementMessage {
  record: Uint8Array
  manifest: Uint8Array
}

const announcementCodec = codec<AnnouncementMessage>({
  start: () => ({ record: EMPTY_BYTES, manifest: EMPTY_BYTES }),
  write(value, writer) {
    writeBytes(writer, 1, value.record)
    writeBytes(writer, 2, value.manifest)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.record = reader.bytes()
    else if (tag === bytesTag(2)) value.manifest = reader.bytes()
    else return false
    return true
  }
})

export function encodeAnnouncement({ record, manifest = EMPTY_BYTES }: Announcement): Uint8Array {
  return encodeMessage({ record, manifest }, announcementCodec)
}

export function decodeAnnouncement(bytes: Uint8Array): Announcement {
  const { record, manifest } = decodeMessage(bytes, announcementCodec)
  return { record, ...(manifest.length === 0 ? {} : { manifest }) }
}

/** `souk.CatalogueRequest`: asks for the records after a change of an epoch, or for the manifests with these hashes. */
export interface CatalogueRequest {
  readonly network: string
  readonly epoch?: string
  readonly after?: number
  readonly wanted?: readonly Uint8Array[]
}

interface RequestMessage {
  network: string
  epoch: string
  after: number
  wanted: Uint8Array[]
}

const requestCodec = codec<RequestMessage>({
  start: () => ({ network: '', epoch: '', after: 0, wanted: [] }),
  write(value, writer) {
    writeText(writer, 1, value.network)
    writeText(writer, 2, value.epoch)
    writeInteger(writer, 3, value.after)
    for (const hash of value.wanted) writer.uint32(bytesTag(4)).bytes(hash)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.network = reader.string()
    else if (tag === bytesTag(2)) value.epoch = reader.string()
    else if (tag === varintTag(3)) value.after = readSafeInteger(reader)
    else if (tag === bytesTag(4)) append(value.wanted, reader.bytes(), CATALOGUE_WANTED_MAX)
    else return false
    return true
  }
})

export function encodeCatalogueRequest({ network, epoch = '', after = 0, wanted = [] }: CatalogueRequest): Uint8Array {
  return encodeMessage({ network, epoch, after, wanted: [...wanted] }, requestCodec)
}

export const decodeCatalogueRequest = (bytes: Uint8Array): Required<CatalogueRequest> =>
  decodeMessage(bytes, requestCodec)

/** `souk.CatalogueReply`. */
export interface CatalogueReply {
  readonly epoch: string
  readonly records: readonly Uint8Array[]
  /** The change number to continue from. */
  readonly through: number
  readonly hasMore: boolean
  readonly manifests: readonly Uint8Array[]
}

interface ReplyMessage {
  epoch: string
  records: Uint8Array[]
  through: number
  hasMore: boolean
  manifests: Uint8Array[]
}

const replyCodec = codec<ReplyMessage>({
  start: () => ({ epoch: '', records: [], through: 0, hasMore: false, manifests: [] }),
  write(value, writer) {
    writeText(writer, 1, value.epoch)
    for (const record of value.records) writer.uint32(bytesTag(2)).bytes(record)
    writeInteger(writer, 3, value.through)
    if (value.hasMore) writer.uint32(varintTag(4)).bool(true)
    for (const manifest of value.manifests) writer.uint32(bytesTag(5)).bytes(manifest)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.epoch = reader.string()
    else if (tag === bytesTag(2)) append(value.records, reader.bytes(), CATALOGUE_RECORDS_MAX)
    else if (tag === varintTag(3)) value.through = readSafeInteger(reader)
    else if (tag === varintTag(4)) value.hasMore = reader.bool()
    else if (tag === bytesTag(5)) append(value.manifests, reader.bytes(), CATALOGUE_WANTED_MAX)
    else return false
    return true
  }
})

export function encodeCatalogueReply({ records, manifests, ...rest }: CatalogueReply): Uint8Array {
  return encodeMessage({ ...rest, records: [...records], manifests: [...manifests] }, replyCodec)
}

export const decodeCatalogueReply = (bytes: Uint8Array): CatalogueReply => decodeMessage(bytes, replyCodec)
