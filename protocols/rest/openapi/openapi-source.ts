import { decodedText } from '../../../lib/base/decoded-text.ts'
import { type Clock, systemClock } from '../../../lib/base/clock.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import {
  OPENAPI_BYTES_MAX,
  OPENAPI_FILES_AT_ONCE_MAX,
  OPENAPI_FILES_MAX,
  OPENAPI_FILES_MS
} from '../../../lib/base/limits/rest.ts'
import { SECOND } from '../../../lib/base/limits/units.ts'
import type { UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { descriptionWorker } from '../../description-worker/description-worker.ts'
import { bundlePath, bundleUrl } from '../../soap/wsdl/wsdl-bundle-path.ts'
import { openZip } from '../../soap/wsdl/wsdl-zip.ts'
import type { OpenapiTexts } from './openapi-document.ts'

/** Reads a file of at most `bytesMax` bytes. */
export type ReadAddress = (url: string, bytesMax: number) => Promise<Uint8Array>

/** A reference that does not start with `#`. */
const OUTWARD = /\$ref["']?\s*:\s*["']?[^"'#\s]/
const IS_DOCUMENT = /(?:^|[{,\s])["']?(?:openapi|swagger)["']?\s*:\s*["']?[23](?:\.\d|["'\s])/
const FILE = /\.(?:json|ya?ml)$/i

/**
 * The texts of a registration's document: given, in a zip, or read from an address with the files of the same origin that it
 * refers to.
 * @throws SoukError `invalid_request`, `description_too_complex`, and the errors of `read`
 */
export async function openapiTexts(
  { openapi, endpoint }: Pick<UpstreamConfig, 'openapi' | 'endpoint'>,
  read: ReadAddress,
  signal: AbortSignal,
  clock: Pick<Clock, 'elapsed'> = systemClock
): Promise<OpenapiTexts> {
  if (openapi === undefined) throw refuse('An OpenAPI document is needed.')
  if ('zip' in openapi) return zipped(openapi.zip, openapi.entry)
  if ('text' in openapi) return withFiles({ text: openapi.text }, [new URL(endpoint).origin], read, signal, clock)
  const text = decodedText(await read(openapi.url, OPENAPI_BYTES_MAX))
  const { href, origin } = new URL(openapi.url)
  return withFiles({ text, url: href }, [origin], read, signal, clock)
}

/** Reads the files that a document refers to, directly or indirectly. A file that cannot be read stays missing. */
async function withFiles(
  texts: OpenapiTexts,
  origins: readonly string[],
  read: ReadAddress,
  signal: AbortSignal,
  clock: Pick<Clock, 'elapsed'>
): Promise<OpenapiTexts> {
  const startedAt = clock.elapsed()
  const files: Record<string, string> = {}
  const tried = new Set<string>()
  let bytesLeft = OPENAPI_BYTES_MAX - Buffer.byteLength(texts.text)
  for (let fresh = [texts.text]; fresh.some((text) => OUTWARD.test(text)); ) {
    const { missing } = await descriptionWorker.run('outlineOpenapi', { ...texts, files }, signal)
    const wanted = missing.filter((url) => !tried.has(url) && origins.includes(URL.parse(url)?.origin ?? ''))
    if (tried.size + wanted.length > OPENAPI_FILES_MAX) {
      throw refuse(
        `The OpenAPI document has more than ${OPENAPI_FILES_MAX} files, which is the limit. Bundle it into one.`
      )
    }
    fresh = []
    for (let at = 0; at < wanted.length; at += OPENAPI_FILES_AT_ONCE_MAX) {
      if (clock.elapsed() - startedAt > OPENAPI_FILES_MS) throw tooSlow(tried.size)
      const batch = wanted.slice(at, at + OPENAPI_FILES_AT_ONCE_MAX)
      const contents = await Promise.all(batch.map((url) => readOr(url, read, bytesLeft, signal)))
      for (const [index, url] of batch.entries()) {
        tried.add(url)
        const text = contents[index]
        if (text === undefined) continue
        bytesLeft -= Buffer.byteLength(text)
        if (bytesLeft < 0) throw tooLarge()
        files[url] = text
        fresh.push(text)
      }
    }
  }
  return { ...texts, files }
}

async function readOr(url: string, read: ReadAddress, bytesMax: number, signal: AbortSignal) {
  try {
    return decodedText(await read(url, Math.max(1, bytesMax)))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof SoukError && error.code === 'response_too_large') throw tooLarge()
    return undefined
  }
}

async function zipped(base64: string, entry: string | undefined): Promise<OpenapiTexts> {
  if (base64.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(base64)) throw refuse('The zip is not base64.')
  const contents = await openZip(Buffer.from(base64, 'base64'), OPENAPI_FILES_MAX)
  const files: Record<string, string> = {}
  let bytesLeft = OPENAPI_BYTES_MAX
  for (const [path, content] of contents) {
    if (!FILE.test(path) || /(?:^|\/)(?:\._|__MACOSX\/)/.test(path)) continue
    const bytes = await content(bytesLeft)
    bytesLeft -= bytes.length
    files[bundleUrl(path).href] = decodedText(bytes)
  }
  const url = entry === undefined ? entryOf(files) : bundleUrl(bundlePath(entry) ?? '').href
  const text = files[url]
  if (text === undefined) throw refuse(`The zip has no file ${JSON.stringify((entry ?? '').slice(0, 80))}.`)
  return { text, url, files }
}

/** The document among files: the one with a version, in the outermost folder. */
function entryOf(files: Readonly<Record<string, string>>): string {
  const depthOf = (url: string) => url.split('/').length
  const documents = Object.keys(files).filter((url) => IS_DOCUMENT.test(files[url] ?? ''))
  const outermost = Math.min(...documents.map(depthOf))
  const [first, ...others] = documents.filter((url) => depthOf(url) === outermost)
  if (first === undefined)
    throw refuse('The zip has no OpenAPI document: no .json or .yaml file says "openapi" or "swagger".')
  if (others.length === 0) return first
  const names = [first, ...others].slice(0, 10).map((url) => url.replace('file:///', ''))
  throw refuse(`The zip has several OpenAPI documents: ${names.join(', ')}. Keep one in its outermost folder.`)
}

function tooLarge(): SoukError {
  return refuse(`The OpenAPI document and its files are larger than ${OPENAPI_BYTES_MAX} bytes, which is the limit.`)
}

function tooSlow(files: number): SoukError {
  return new SoukError(
    'description_too_complex',
    `The ${files} files of the OpenAPI document that were read took more than ${OPENAPI_FILES_MS / SECOND} s, and it refers to others. Bundle it into one.`
  )
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
