import { TEXT_VALUES_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject, textOf } from '../../exact-json.ts'
import { composedOf, memberOf } from './composed-schema.ts'
import { encodingOf } from './openapi-body.ts'
import { FORM, isJson } from './openapi-media.ts'
import type { Definitions } from './openapi-schemas.ts'
import { isOfType } from './own-values.ts'
import type { RestBody, RestOperation } from './rest-api.ts'

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Styles that write a list as one text with commas. */
const WITH_COMMAS: readonly string[] = ['simple', 'form']

interface Values {
  /** By `place.name`. */
  readonly parameters: JsonObject
  readonly body?: unknown
}

/**
 * The values of a call as its operation describes them, where the request would be the same. Parameters and forms have only texts: a
 * request has no difference between `5` and `"5"`, or between one value and a list of one.
 */
export function textValues(operation: RestOperation, values: Values, definitions: Definitions): Values {
  const reader = new TextReader(definitions)
  const { parameters, body } = operation
  const read = parameters.flatMap(({ in: place, name, style, explode, schema }) => {
    const key = `${place}.${name}`
    if (!Object.hasOwn(values.parameters, key) || style === 'json') return []
    const isSplit = !explode && WITH_COMMAS.includes(style)
    return [[key, reader.read(values.parameters[key], schema, { isSplit, isDeep: true })] as const]
  })
  return {
    parameters: { ...values.parameters, ...Object.fromEntries(read) },
    ...(values.body === undefined
      ? {}
      : { body: isObject(values.body) ? formValue(reader, values.body, body) : values.body })
  }
}

function formValue(reader: TextReader, value: JsonObject, body: RestBody | undefined): JsonObject {
  if (body === undefined || (body.type !== FORM && !body.type.startsWith('multipart/'))) return value
  const { encoding = {} } = body
  const parts = reader.partsOf(body.schema)
  const members = Object.entries(value).map(([name, one]) => {
    const { contentType, serialization } = encodingOf(encoding, name)
    if (contentType !== undefined && isJson(contentType)) return [name, one] as const
    return [name, reader.readMember(one, parts, name, { isSplit: false, isDeep: serialization !== undefined })] as const
  })
  return Object.fromEntries(members)
}

interface How {
  /** A text with commas is a list. */
  readonly isSplit: boolean
  /** A single value within a list is no list. */
  readonly isItem?: true
  /** Members of objects are texts too. */
  readonly isDeep: boolean
}

class TextReader {
  readonly #definitions: Definitions
  /** Further values are left as they are, because the schemas of each one are compared. */
  #left = TEXT_VALUES_MAX

  constructor(definitions: Definitions) {
    this.#definitions = definitions
  }

  partsOf(schema: JsonSchema): readonly JsonSchema[] {
    return composedOf(schema, this.#definitions)
  }

  readMember(value: unknown, parts: readonly JsonSchema[], name: string, how: How): unknown {
    return this.read(value, parts.map((part) => memberOf(part, name)).find(isObject), how)
  }

  read(value: unknown, schema: unknown, how: How): unknown {
    if (!isObject(schema) || this.#left-- <= 0) return value
    const parts = this.partsOf(schema)
    if (isObject(value)) {
      const members = Object.entries(how.isDeep ? value : {})
      return {
        ...value,
        ...Object.fromEntries(members.map(([name, one]) => [name, this.readMember(one, parts, name, how)]))
      }
    }
    const fitting = Array.isArray(value) ? value : fittingOf(value, parts, how)
    if (!Array.isArray(fitting)) return fitting
    const items = parts.map((part) => part['items']).find(isObject)
    return fitting.map((one) => this.read(one, items, { ...how, isItem: true }))
  }
}

/** The first reading of a value that a part of its schema takes; the value itself if there is none. */
function fittingOf(value: unknown, parts: readonly JsonSchema[], { isSplit, isItem }: How): unknown {
  const text = textOf(value)
  if (text === undefined) return value
  const single = NUMBER.test(text) ? Number(text) : text === 'true' ? true : text === 'false' ? false : text
  const list = isSplit ? text.split(',') : [value]
  const readings = [value, text, single, ...(isItem ? [] : [list])]
  return readings.find((reading) => parts.some((part) => takes(part, reading))) ?? value
}

function takes({ type, enum: listed, items }: JsonSchema, value: unknown): boolean {
  const isTyped =
    type === undefined ? listed !== undefined || (items !== undefined && Array.isArray(value)) : isOfType(value, type)
  return isTyped && (!Array.isArray(listed) || listed.includes(value))
}
