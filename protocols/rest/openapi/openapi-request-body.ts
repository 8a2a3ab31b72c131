import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { bodyExampleIn } from './openapi-examples.ts'
import { bareType, isJson, isJsonLines } from './openapi-media.ts'
import { oldSerializationOf } from './openapi-serialization.ts'
import type { RestBody, RestEncoding, Serialization } from './rest-api.ts'

type Convert = (schema: unknown) => JsonSchema
/** Follows the reference that a media type may be in 3.2. */
type Follow = (media: unknown) => JsonObject

const FORM = 'application/x-www-form-urlencoded'
const STYLES: readonly unknown[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']

/** The body of a request, in the media type that a JSON call can express best. Undefined without one. */
export function requestBody(body: JsonObject, convert: Convert, follow: Follow): RestBody | undefined {
  const content = objectOf(body['content'])
  const types = Object.keys(content)
  const chosen =
    types.find(isJson) ??
    types.find((type) => isJsonLines(type) || bareType(type) === FORM || bareType(type).startsWith('multipart/')) ??
    // A wildcard type includes JSON.
    types.find((type) => /^(?:\*|application)\/\*$/.test(bareType(type))) ??
    types[0]
  if (chosen === undefined) return undefined
  const media = follow(content[chosen])
  const type = chosen.includes('*') ? 'application/json' : bareType(chosen)
  // `itemSchema` of 3.2 describes one line.
  const isItems = media['schema'] === undefined && media['itemSchema'] !== undefined
  const schema = isItems ? { type: 'array', items: convert(media['itemSchema']) } : convert(media['schema'])
  const encoding = encodingsOf(objectOf(media['encoding']), type)
  const example = bodyExampleIn(media)
  return {
    required: body['required'] === true,
    type,
    schema,
    ...(example === undefined ? {} : { example }),
    ...(encoding === undefined ? {} : { encoding })
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
  convert: Convert
): RestBody | undefined {
  const types = Array.isArray(consumes) ? consumes.filter((type) => typeof type === 'string') : []
  const body = parameters.find((parameter) => parameter['in'] === 'body')
  if (body !== undefined) {
    const type = types.find(isJson) ?? types[0] ?? 'application/json'
    const example = bodyExampleIn(body)
    return {
      required: body['required'] === true,
      type: type.includes('*') ? 'application/json' : bareType(type),
      schema: convert(body['schema']),
      ...(example === undefined ? {} : { example })
    }
  }
  const fields = parameters.filter((parameter) => parameter['in'] === 'formData')
  if (fields.length === 0) return undefined
  const isMultipart =
    types.some((type) => bareType(type) === 'multipart/form-data') || fields.some(({ type }) => type === 'file')
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
