import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from 'yauzl'
import { SoukError, isSoukError } from '../../../lib/base/errors.ts'
import { WSDL_ZIP_ENTRIES_MAX } from '../../../lib/base/limits/soap.ts'
import { bundlePath, type ReadFile } from './wsdl-bundle-path.ts'

/** APPNOTE.TXT 4.4.5: stored and deflated, which every unzip program supports. No other method is supported here. */
const METHODS: ReadonlySet<number> = new Set([0, 8])

/**
 * The files of a zip by path. Each file is unpacked when it is read, and checked against its checksum. Sizes in the zip are not
 * trusted: the unpacked bytes are counted.
 *
 * @throws SoukError `invalid_request` for a file that is not a zip, is truncated, has more than `entriesMax` entries, a
 * path that leads out of it, or an encrypted entry
 */
export async function openZip(
  bytes: Uint8Array,
  entriesMax = WSDL_ZIP_ENTRIES_MAX
): Promise<ReadonlyMap<string, ReadFile>> {
  const files = new Map<string, ReadFile>()
  let entries = 0
  try {
    // Names are decoded below, so that a bad name gets our own error message.
    const zip = await fromBufferPromise(Buffer.from(bytes), { lazyEntries: true, decodeStrings: false })
    if (zip.entryCount > entriesMax) throw tooMany(entriesMax)
    for await (const entry of zip.eachEntry()) {
      // The number of entries in the zip's header is not trusted either.
      if (++entries > entriesMax) throw tooMany(entriesMax)
      const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
      const path = bundlePath(name)
      if (path === undefined)
        throw refuse(`has an entry named ${JSON.stringify(name.slice(0, 80))}, which is outside of it`)
      if (entry.isEncrypted()) throw refuse('is encrypted')
      if (name.endsWith('/')) continue
      if (files.has(path)) throw refuse(`has ${path} twice`)
      files.set(path, (bytesMax) => unpacked(zip, entry, path, bytesMax))
    }
  } catch (error) {
    throw isSoukError(error)
      ? error
      : refuse('cannot be read: it is not a zip file, or it is damaged or truncated', error)
  }
  return files
}

async function unpacked(zip: ZipFile, entry: Entry, path: string, bytesMax: number): Promise<Uint8Array> {
  if (!METHODS.has(entry.compressionMethod)) throw refuse(`has ${path} in a compression other than deflate`)
  const chunks: Buffer[] = []
  let size = 0
  let sum = 0
  try {
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > bytesMax) throw new SoukError('response_too_large', `${path} is larger than ${bytesMax} bytes.`)
      sum = crc32(chunk, sum)
      chunks.push(chunk)
    }
  } catch (error) {
    throw isSoukError(error) ? error : refuse(`has ${path} damaged or truncated`, error)
  }
  if (sum !== entry.crc32) throw refuse(`has ${path} damaged: its checksum does not match`)
  return Buffer.concat(chunks)
}

function tooMany(entriesMax: number): SoukError {
  return refuse(`has more than ${entriesMax} entries. Keep only the description and the files that it refers to`)
}

function refuse(what: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', `The zip ${what}.`, { cause })
}
