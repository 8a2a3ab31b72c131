import { COMPOSED_PARTS_MAX, OPERATION_FIELDS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { bodyExampleIn } from './openapi-examples.ts'
import { bareType, fileAmong, FORM, isFile, isJsonLines, jsonAmong, sentType } from './openapi-media.ts'
import { isFileSchema } from './openapi-schemas.ts'
import { oldSerializationOf } from './openapi-serialization.ts'
import { EACH_ITEM, type RestBody, type RestEncoding, type Serialization } from './rest-api.ts'

type Convert = (schema: unknown) => JsonSchema
/** Follows a reference, which a media type may be in 3.2. */
type Follow = (given: unknown) => JsonObject

interface Reading {
  readonly convert: Convert
  readonly follow: Follow
  /** The same, but a reference without a target is an empty object. */
  readonly find: Follow
}

const STYLES: readonly unknown[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']

/** The body of a request, in the media type that a JSON call can express best. Undefined without one. */
export function requestBody(body: JsonObject, { convert, follow, find }: Reading): RestBody | undefined {
  const content = objectOf(body['content'])
  const types = Object.keys(content)
  const json = jsonAmong(types)
  const multipart = multipartAmong(types)
  const inJson = json === undefined ? undefined : find(content[json])['schema']
  const isOne = isWholeFile(inJson, find)
  const file = isOne ? fileAmong(types) : undefined
  const hasFiles = multipart !== undefined && (isOne || hasFile(inJson, find))
  const chosen =
    file ??
    (hasFiles ? multipart : json) ??
    types.find((type) => isJsonLines(type) || bareType(type) === FORM || bareType(type).startsWith('multipart/')) ??
    // A wildcard type includes JSON.
    types.find((type) => /^(?:\*|application)\/\*$/.test(bareType(type))) ??
    types[0]
  if (chosen === undefined) return undefined
  const media = follow(content[chosen])
  const type = sentType(chosen, isWholeFile(media['schema'], find))
  // `itemSchema` of 3.2 describes one line.
  const isItems = media['schema'] === undefined && media['itemSchema'] !== undefined
  const described = describedFor(type, media['schema'], find)
  const schema = isItems ? { type: 'array', items: convert(media['itemSchema']) } : convert(described)
  const encoding = encodingsOf({ ...objectOf(media['encoding']), ...positionalIn(media) }, type)
  const example = bodyExampleIn(media, find)
  return {
    required: body['required'] === true,
    type,
    schema,
    ...(example === undefined ? {} : { example }),
    ...(encoding === undefined ? {} : { encoding })
  }
}

/**
 * A file needs no schema since 3.1 (section 4.8.14.2), but callers do. Of an object, they give the bytes: a type of files has no form for it.
 * A multipart body has named parts, also where its schema is that of one part.
 * @param name - of that part. Without one, callers choose it
 */
function describedFor(type: string, schema: unknown, find: Follow, name?: string): unknown {
  const isBytes = isFile(type) && (schema === undefined || [find(schema)['type']].flat().includes('object'))
  if (isBytes) return { type: 'string', format: 'binary' }
  if (!type.startsWith('multipart/') || hasParts(type, schema, find)) return schema
  if (name === undefined) return { type: 'object', additionalProperties: schema, minProperties: 1 }
  return { type: 'object', properties: { [name]: schema }, required: [name], additionalProperties: false }
}

/** Whether a schema describes the parts of a multipart body: an object, or a list of parts without names. */
function hasParts(type: string, schema: unknown, find: Follow): boolean {
  const parts = partsIn(schema, COMPOSED, find).filter(
    (part) => part['type'] !== undefined || part['properties'] !== undefined || isFileSchema(part)
  )
  const whole: readonly unknown[] = type === 'multipart/form-data' ? ['object'] : ['object', 'array']
  const isWhole = (part: JsonObject) =>
    part['properties'] !== undefined || [part['type']].flat().some((one) => whole.includes(one))
  return parts.length === 0 || parts.some((part) => !isFileSchema(part) && isWhole(part))
}

function multipartAmong(types: readonly string[]): string | undefined {
  return types.find((type) => bareType(type) === 'multipart/form-data')
}

/** Whether the body itself is a file, and has no other form. */
function isWholeFile(body: unknown, find: Follow): boolean {
  return body !== undefined && partsIn(body, ['allOf'], find).some(isFileSchema)
}

/** Whether a member of the body is a file. Documents that list several media types for one schema have it in JSON too, which has no files. */
function hasFile(body: unknown, find: Follow): boolean {
  const members = partsIn(body, COMPOSED, find).flatMap(({ properties, additionalProperties }) => [
    ...Object.values(objectOf(properties)),
    additionalProperties
  ])
  return members
    .slice(0, OPERATION_FIELDS_MAX)
    .some((member) => partsIn(member, [...COMPOSED, 'items'], find).some(isFileSchema))
}

const COMPOSED = ['allOf', 'anyOf', 'oneOf']

/** A schema and the schemas in the keywords, up to `COMPOSED_PARTS_MAX`. */
function partsIn(schema: unknown, keywords: readonly string[], find: Follow): readonly JsonObject[] {
  const parts = new Set([find(schema)])
  for (const part of parts) {
    for (const one of keywords.flatMap((keyword) => part[keyword] ?? [])) {
      if (parts.size === COMPOSED_PARTS_MAX) return [...parts]
      parts.add(find(one))
    }
  }
  return [...parts]
}

/** The encodings of a list of parts, by position (OpenAPI 3.2). */
function positionalIn({ prefixEncoding, itemEncoding }: JsonObject): JsonObject {
  const first = Array.isArray(prefixEncoding) ? (prefixEncoding as unknown[]) : []
  return {
    ...Object.fromEntries(first.entries()),
    ...(itemEncoding === undefined ? {} : { [EACH_ITEM]: itemEncoding })
  }
}

function encodingsOf(given: JsonObject, type: string): RestBody['encoding'] {
  const encodings = Object.entries(given).flatMap(([name, one]): Array<[string, RestEncoding]> => {
    if (!isObject(one)) return []
    const { contentType, style, explode, allowReserved } = one
    const isStyled = [style, explode, allowReserved].some((member) => member !== undefined)
    const chosen = STYLES.includes(style) ? (style as 'form') : 'form'
    const serialization: Serialization = {
      style: chosen,
      explode: typeof explode === 'boolean' ? explode : chosen === 'form',
      ...(allowReserved === true ? { allowReserved } : {})
    }
    return [
      [
        name,
        {
          ...(typeof contentType === 'string' ? { contentType } : {}),
          ...(isStyled && type === FORM ? { serialization } : {})
        }
      ]
    ]
  })
  return encodings.length === 0 ? undefined : Object.fromEntries(encodings)
}

/** The body of an operation of OpenAPI 2.0: one parameter, or the fields of a form. */
export function oldRequestBody(
  parameters: readonly JsonObject[],
  consumes: unknown,
  { convert, find }: Omit<Reading, 'follow'>
): RestBody | undefined {
  const types = Array.isArray(consumes) ? consumes.filter((type) => typeof type === 'string') : []
  const body = parameters.find((parameter) => parameter['in'] === 'body')
  if (body !== undefined) {
    const isOne = isWholeFile(body['schema'], find)
    const file = isOne ? (fileAmong(types) ?? multipartAmong(types)) : undefined
    const chosen = file ?? jsonAmong(types) ?? types[0] ?? 'application/json'
    const type = sentType(chosen, isOne)
    const name = typeof body['name'] === 'string' ? body['name'] : 'body'
    const example = bodyExampleIn(body, find)
    return {
      required: body['required'] === true,
      type,
      schema: convert(describedFor(type, body['schema'], find, name)),
      ...(example === undefined ? {} : { example })
    }
  }
  const fields = parameters.filter((parameter) => parameter['in'] === 'formData')
  if (fields.length === 0) return undefined
  const isMultipart = multipartAmong(types) !== undefined || fields.some(({ type }) => type === 'file')
  const required = fields.filter((field) => field['required'] === true).map(({ name }) => String(name))
  const lists = fields.filter((field) => field['type'] === 'array')
  const encoding = lists.map((field) => [String(field['name']), { serialization: oldSerializationOf(field, true) }])
  return {
    required: required.length > 0,
    type: isMultipart ? 'multipart/form-data' : FORM,
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [String(field['name']), convert(oldSchema(field))])),
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false
    },
    ...(encoding.length === 0 ? {} : { encoding: Object.fromEntries(encoding) as RestBody['encoding'] & {} })
  }
}

/** In 2.0 a parameter is its own schema. */
export function oldSchema({ name: _, in: __, required: ___, description, ...schema }: JsonObject): JsonObject {
  return description === undefined ? schema : { description, ...schema }
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
