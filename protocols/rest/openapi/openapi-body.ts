import { utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, textOf } from '../../exact-json.ts'
import { bareType, isJson, isJsonLines, isText, isXml } from './openapi-media.ts'
import { pairsOf } from './openapi-parameters.ts'
import type { RestBody, RestEncoding } from './rest-api.ts'
import { type Definitions, dereferenced } from './openapi-schemas.ts'
import { writeXml } from './openapi-xml.ts'

export interface WrittenBody {
  readonly bytes: Uint8Array
  readonly type: string
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
/** Parts of a schema that are searched for a file. */
const PARTS_MAX = 100
/** OpenAPI 3.1, section 4.8.14.4: how a form writes a member without an encoding. */
const REPEATED = { style: 'form', explode: true } as const

/**
 * Writes the body of a request in the media type of its operation. Files are base64 in a call, because JSON has no form for them.
 * @throws SoukError `invalid_request`
 */
export async function writeBody(body: RestBody, value: unknown, definitions: Definitions): Promise<WrittenBody> {
  const { type, schema } = body
  if (isJson(type)) return { bytes: utf8(JSON.stringify(value)), type }
  if (isJsonLines(type)) return { bytes: utf8(linesOf(type, value)), type }
  if (type === 'application/x-www-form-urlencoded') return { bytes: utf8(formOf(body, value)), type }
  if (type.startsWith('multipart/')) return multipart(body, value, definitions)
  const text = textOf(value)
  if (text === undefined && isXml(type)) return { bytes: utf8(writeXml(value, schema, definitions)), type }
  if (text === undefined) throw refuse('The field "body" must be a string here.')
  return { bytes: isText(type) ? utf8(text) : fileIn('body', text), type }
}

/** A list is one JSON text a line. A string is the lines themselves. */
function linesOf(type: string, value: unknown): string {
  if (typeof value === 'string') return value
  const mark = bareType(type) === 'application/json-seq' ? '\u001E' : ''
  return (Array.isArray(value) ? (value as unknown[]) : [value])
    .map((one) => `${mark}${JSON.stringify(one)}\n`)
    .join('')
}

function formOf({ encoding = {} }: RestBody, value: unknown): string {
  const pairs = membersOf(value).flatMap(([name, member]) => {
    const { contentType, serialization } = encodingOf(encoding, name)
    const isWhole = serialization === undefined && contentType !== undefined && isJson(contentType)
    const how = isWhole ? ({ style: 'json', explode: false } as const) : serialization
    if (how !== undefined) return pairsOf({ name, ...how }, member)
    // Without an encoding, an object is a JSON text.
    return pairsOf({ name, ...REPEATED }, isObject(member) ? JSON.stringify(member) : member).map(
      ([key, text]) => [plus(key), plus(text)] as const
    )
  })
  return pairs.map(([name, text]) => `${name}=${text}`).join('&')
}

/** WHATWG URL, section 5: a space is a plus sign. */
function plus(text: string): string {
  return text.replaceAll('%20', '+')
}

async function multipart(body: RestBody, value: unknown, definitions: Definitions): Promise<WrittenBody> {
  const { schema, encoding = {} } = body
  const form = new FormData()
  for (const [name, member] of membersOf(value)) {
    const described = propertyOf(schema, name, definitions)
    const { contentType, serialization } = encodingOf(encoding, name)
    const type = contentType?.split(',').find((one) => !one.includes('*'))
    const isJsonPart = type !== undefined && isJson(type)
    const isOneText = serialization !== undefined && !serialization.explode
    if (isOneText && Array.isArray(member)) {
      for (const [, text] of pairsOf({ name, ...serialization }, member)) form.append(name, decodeURIComponent(text))
      continue
    }
    for (const one of Array.isArray(member) && !isJsonPart ? (member as unknown[]) : [member]) {
      if (one === null) continue
      append(form, name, one, {
        type: type?.trim(),
        isFile: isFile(described, contentType, definitions),
        described,
        definitions
      })
    }
  }
  // Written by the platform, which chooses a boundary that occurs in no part.
  const response = new Response(form)
  const written = response.headers.get('content-type') ?? ''
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    type: written.replace('multipart/form-data', body.type)
  }
}

interface Part {
  readonly type: string | undefined
  readonly isFile: boolean
  readonly described: JsonSchema | undefined
  readonly definitions: Definitions
}

function append(form: FormData, name: string, value: unknown, part: Part): void {
  const { type, described, definitions } = part
  const text = textOf(value)
  if (type !== undefined && isJson(type)) form.append(name, new Blob([JSON.stringify(value)], { type }))
  else if (text !== undefined && part.isFile) {
    form.append(name, new Blob([new Uint8Array(fileIn(name, text))], { type: type ?? '' }), name)
  } else if (text === undefined && type !== undefined && isXml(type)) {
    form.append(name, new Blob([writeXml(value, described ?? {}, definitions, name)], { type }))
  } else if (text === undefined) form.append(name, new Blob([JSON.stringify(value)], { type: 'application/json' }))
  else form.append(name, type === undefined ? text : new Blob([text], { type }))
}

/** A member of an object that may be composed of parts. */
function propertyOf(schema: JsonSchema, name: string, definitions: Definitions): JsonSchema | undefined {
  return partsOf(schema, definitions)
    .map(({ properties }) => (isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined))
    .find(isObject)
}

/** A binary string, also if it may be null, is in a list, or is composed of parts. */
function isFile(schema: JsonSchema | undefined, contentType: string | undefined, definitions: Definitions): boolean {
  const types = (contentType ?? '').split(',').map(bareType)
  if (types.some((type) => /^(?:image|audio|video|font)\/|^application\/(?:octet-stream|pdf|zip)$/.test(type)))
    return true
  if (schema === undefined) return false
  return partsOf(schema, definitions).some(
    ({ format, contentMediaType, contentEncoding, items }) =>
      format === 'binary' ||
      (typeof contentMediaType === 'string' &&
        contentEncoding === undefined &&
        !isText(contentMediaType) &&
        !isJson(contentMediaType)) ||
      (isObject(items) && isFile(items, undefined, definitions))
  )
}

/** A schema and the schemas that it is composed of, each once. */
function partsOf(schema: JsonSchema, definitions: Definitions): JsonSchema[] {
  const seen = new Set<JsonSchema>()
  const waiting = [schema]
  for (let at = waiting.pop(); at !== undefined && seen.size < PARTS_MAX; at = waiting.pop()) {
    const part = dereferenced(at, definitions)
    if (seen.has(part)) continue
    seen.add(part)
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const list = part[keyword]
      if (Array.isArray(list)) waiting.push(...(list.filter(isObject) as JsonSchema[]))
    }
  }
  return [...seen]
}

function encodingOf(encoding: NonNullable<RestBody['encoding']>, name: string): RestEncoding {
  return (Object.hasOwn(encoding, name) ? encoding[name] : undefined) ?? {}
}

function fileIn(name: string, text: string): Uint8Array {
  if (!BASE64.test(text)) throw refuse(`The field "${name}" must be base64.`)
  return Buffer.from(text, 'base64')
}

function membersOf(value: unknown): Array<[string, unknown]> {
  if (!isObject(value)) throw refuse('The body must be a JSON object here.')
  return Object.entries(value)
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
