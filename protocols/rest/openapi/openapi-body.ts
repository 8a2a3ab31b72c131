import { utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { REQUEST_BYTES_CEILING } from '../../../lib/base/limits/call.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, textOf } from '../../exact-json.ts'
import { bareType, FORM, isFile, isJson, isJsonLines, isText, isXml, isYaml, OCTETS } from './openapi-media.ts'
import { pairsOf } from './openapi-parameters.ts'
import { EACH_ITEM, type RestBody, type RestEncoding } from './rest-api.ts'
import { COMPOSING, composedOf, memberOf } from './composed-schema.ts'
import type { Definitions } from './openapi-schemas.ts'
import { MultipartWriter } from './multipart-writer.ts'
import { decoded } from './percent-decoded.ts'
import { writeXml } from './openapi-xml.ts'
import { WrittenSize } from './written-size.ts'

export interface WrittenBody {
  readonly bytes: Uint8Array
  readonly type: string
}

/** Without a repeated group, whose steps back fill the stack at a few megabytes. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/
/** The boundary and the headers of one part of a multipart body. */
const PART_CHARS = 128
/** OpenAPI 3.1, section 4.8.14.4: how a form writes a member without an encoding. */
const REPEATED = { style: 'form', explode: true } as const

/**
 * Writes the body of a request in the media type of its operation. Files are base64 in a call, because JSON has no form for them.
 * @throws SoukError `invalid_request`, `request_too_large`
 */
export function writeBody(body: RestBody, value: unknown, definitions: Definitions): WrittenBody {
  const { type, schema } = body
  if (isJson(type)) return { bytes: utf8(JSON.stringify(value)), type }
  if (isJsonLines(type)) return { bytes: utf8(linesOf(type, value)), type }
  const size = new WrittenSize('body', REQUEST_BYTES_CEILING)
  if (type === FORM) return { bytes: utf8(formOf(body, value, size)), type }
  if (type.startsWith('multipart/')) return multipart(body, value, { definitions, size })
  const text = textOf(value)
  if (text === undefined && isXml(type)) return { bytes: utf8(writeXml(value, schema, { definitions, size })), type }
  if (text === undefined && isYaml(type)) return { bytes: utf8(JSON.stringify(value)), type }
  if (text === undefined) throw refuse('The field "body" must be a string here.')
  if (isText(type) || isEncoded(schema, definitions)) return { bytes: utf8(text), type }
  const { bytes, type: named = OCTETS } = fileIn('body', text)
  // The document may list several types of files.
  return { bytes, type: named !== OCTETS && (type === OCTETS || isFile(named)) ? named : type }
}

/** A body that the API itself takes in base64 (OpenAPI 3.1, section 4.8.14.2; `format: base64` in 3.0). */
function isEncoded(schema: JsonSchema, definitions: Definitions): boolean {
  return composedOf(schema, definitions).some(
    ({ format, contentEncoding }) => contentEncoding !== undefined || format === 'base64'
  )
}

/** A list is one JSON text a line. A string is the lines themselves. */
function linesOf(type: string, value: unknown): string {
  if (typeof value === 'string') return value
  const mark = bareType(type) === 'application/json-seq' ? '\u001E' : ''
  return (Array.isArray(value) ? (value as unknown[]) : [value])
    .map((one) => `${mark}${JSON.stringify(one)}\n`)
    .join('')
}

/** A string is the form itself. */
function formOf({ encoding = {} }: RestBody, value: unknown, size: WrittenSize): string {
  if (typeof value === 'string') return value
  const pairs = membersOf(value).flatMap(([name, member]) => {
    const { contentType, serialization } = encodingOf(encoding, name)
    const isWhole = serialization === undefined && contentType !== undefined && isJson(contentType)
    const how = isWhole ? ({ style: 'json', explode: false } as const) : serialization
    if (how !== undefined) return pairsOf({ name, ...how }, member, size)
    // Without an encoding, an object is a JSON text.
    return pairsOf({ name, ...REPEATED }, isObject(member) ? JSON.stringify(member) : member, size).map(
      ([key, text]) => [plus(key), plus(text)] as const
    )
  })
  return pairs.map(([name, text]) => `${name}=${text}`).join('&')
}

/** WHATWG URL, section 5: a space is a plus sign. */
function plus(text: string): string {
  return text.replaceAll('%20', '+')
}

interface Writing {
  readonly definitions: Definitions
  readonly size: WrittenSize
}

type Described = readonly [name: string, value: unknown, schema: JsonSchema | undefined, encoding: RestEncoding]

/** The parts of a multipart body: its members, or the items of a list, whose parts have no names (OpenAPI 3.2, "Encoding By Position"). */
function describedOf(body: RestBody, value: unknown, definitions: Definitions): Described[] {
  const { schema, encoding = {} } = body
  const composed = composedOf(schema, definitions)
  if (!isByPosition(body, value)) {
    return membersOf(value).map(([name, one]) => [name, one, propertyOf(composed, name), encodingOf(encoding, name)])
  }
  return value.map((one, at) => {
    const name = String(at)
    return [name, one, itemOf(composed, at), encodingOf(encoding, Object.hasOwn(encoding, name) ? name : EACH_ITEM)]
  })
}

function isByPosition({ type }: RestBody, value: unknown): value is unknown[] {
  return Array.isArray(value) && type !== 'multipart/form-data'
}

function multipart(body: RestBody, value: unknown, { definitions, size }: Writing): WrittenBody {
  const writer = new MultipartWriter(body.type)
  const isList = isByPosition(body, value)
  for (const [name, member, described, { contentType, serialization }] of describedOf(body, value, definitions)) {
    const file = fileOf(described, contentType, definitions)
    const type = contentType?.split(',').find((one) => !one.includes('*')) ?? file?.type
    const isOnePart = isList || (type !== undefined && isJson(type))
    const isOneText = serialization !== undefined && !serialization.explode
    if (isOneText && Array.isArray(member)) {
      for (const [, text] of pairsOf({ name, ...serialization }, member, size)) {
        writer.add(decodeURIComponent(text), { name })
      }
      continue
    }
    const part = {
      type: type?.trim(),
      isFile: file !== undefined,
      described,
      definitions,
      size
    }
    for (const one of Array.isArray(member) && !isOnePart ? (member as unknown[]) : [member]) {
      // An item that is null keeps its position.
      if (one !== null || isList) append(writer, name, one, part)
    }
  }
  return { bytes: writer.bytes(), type: writer.type }
}

interface Part extends Writing {
  readonly type: string | undefined
  readonly isFile: boolean
  readonly described: JsonSchema | undefined
}

function append(writer: MultipartWriter, name: string, value: unknown, part: Part): void {
  const { type, described, size } = part
  size.add(name.length + PART_CHARS)
  const text = textOf(value)
  if (type !== undefined && isJson(type)) writer.add(JSON.stringify(value), { name, type })
  else if (text !== undefined && part.isFile) {
    const file = fileIn(name, text)
    writer.add(file.bytes, { name, type: file.type ?? type ?? OCTETS, fileName: file.fileName ?? name })
  } else if (text === undefined && type !== undefined && isXml(type)) {
    writer.add(writeXml(value, described ?? {}, part, name), { name, type })
  } else if (text === undefined) writer.add(JSON.stringify(value), { name, type: 'application/json' })
  else writer.add(text, { name, type })
}

/** A member of an object that may be composed of parts, described by its name or as one of any name. */
function propertyOf(composed: readonly JsonSchema[], name: string): JsonSchema | undefined {
  const named = composed.map((part) => memberOf(part, name)).find(isObject)
  return named ?? composed.map(({ additionalProperties }) => additionalProperties).find(isObject)
}

/** The schema of a list's item. */
function itemOf(composed: readonly JsonSchema[], at: number): JsonSchema | undefined {
  return composed
    .map(({ prefixItems, items }) => (Array.isArray(prefixItems) ? (prefixItems as unknown[])[at] : undefined) ?? items)
    .find(isObject)
}

/** A binary string with its media type, also if it may be null, is in a list, or is composed of parts. */
function fileOf(
  schema: JsonSchema | undefined,
  contentType: string | undefined,
  definitions: Definitions
): { readonly type?: string } | undefined {
  const types = (contentType ?? '').split(',').map(bareType)
  if (types.some((type) => /^(?:image|audio|video|font)\/|^application\/(?:octet-stream|pdf|zip)$/.test(type)))
    return {}
  if (schema === undefined) return undefined
  for (const part of composedOf(schema, definitions, [...COMPOSING, 'items'])) {
    const { format, contentMediaType, contentEncoding } = part
    const type = typeof contentMediaType === 'string' && contentEncoding === undefined ? contentMediaType : undefined
    if (type !== undefined && !isText(type) && !isJson(type)) return type.includes('*') ? {} : { type }
    if (format === 'binary') return {}
  }
  return undefined
}

/** How a form writes a member. */
export function encodingOf(encoding: NonNullable<RestBody['encoding']>, name: string): RestEncoding {
  return (Object.hasOwn(encoding, name) ? encoding[name] : undefined) ?? {}
}

interface GivenFile {
  readonly bytes: Uint8Array
  readonly type?: string
  readonly fileName?: string
}

/** Base64, or a data URL (RFC 2397), which can have a type and a name too: `data:audio/mpeg;name=a.mp3;base64,…`. */
function fileIn(field: string, given: string): GivenFile {
  const start = given.startsWith('data:') ? given.indexOf(',') + 1 : 0
  const [type = '', ...parameters] = given.slice('data:'.length, Math.max(start - 1, 0)).split(';')
  const text = given.slice(start)
  const isBase64 = text.length % 4 === 0 && !NOT_BASE64.test(text.replace(/={1,2}$/, ''))
  if (!isBase64 || (start > 0 && parameters.at(-1) !== 'base64'))
    throw refuse(`The field "${field}" must be base64, or a data URL with base64.`)
  const fileName = parameters.find((one) => one.startsWith('name='))?.slice('name='.length)
  return {
    bytes: Buffer.from(text, 'base64'),
    ...(/^[\w.+-]+\/[\w.+-]+$/.test(type) ? { type } : {}),
    ...(fileName === undefined ? {} : { fileName: decoded(fileName) })
  }
}

function membersOf(value: unknown): Array<[string, unknown]> {
  if (!isObject(value)) throw refuse('The body must be a JSON object here.')
  return Object.entries(value)
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
