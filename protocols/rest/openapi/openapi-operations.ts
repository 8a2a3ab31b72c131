import { SoukError } from '../../../lib/base/errors.ts'
import { isExtraHeader } from '../../../lib/base/extra-header.ts'
import { SUMMARIZED_NAME_CHARS_MAX } from '../../../lib/base/limits/descriptions.ts'
import { OPERATIONS_MAX } from '../../../lib/base/limits/names.ts'
import { OPENAPI_HOPS_MAX, OPERATION_FIELDS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { asMeant } from './meant-schemas.ts'
import type { OpenapiDocument } from './openapi-document.ts'
import { annotated } from './openapi-examples.ts'
import { bareType, FORM, isJson } from './openapi-media.ts'
import { LeftOut, templateOf } from './openapi-path.ts'
import { objectOf, oldRequestBody, oldSchema, requestBody } from './openapi-request-body.ts'
import { Schemas, shownReference } from './openapi-schemas.ts'
import { oldSerializationOf, reservedIn, serializationOf } from './openapi-serialization.ts'
import { type Servers, serverOf } from './openapi-servers.ts'
import { isRequestId, type RestApi, type RestBody, type RestOperation, type RestParameter } from './rest-api.ts'

/** The parts of a registration that decide which operations can be called. */
export interface OperationTerms {
  readonly servers: Servers
  /** True for a parameter that the provider's credentials or endpoint supply. */
  isSupplied(place: string, name: string): boolean
  /** True for a cookie that the listing forwards. */
  takesCookie(name: string): boolean
}

const FORWARDED: readonly string[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']
export const METHODS = [...FORWARDED, 'trace', 'query']
/** Headers that OpenAPI describes by other means (3.1, section 4.8.12). */
const DESCRIBED_ELSEWHERE = /^(?:accept|content-type|authorization)$/i
/** Conditional requests, which are always forwarded. */
const CONDITIONS = /^if-(?:match|none-match|none-exist|modified-since|unmodified-since|range)$/i
/** Headers that the HTTP client of the node sets itself. */
const SET_BY_CLIENT =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|te|trailer|expect|date|user-agent|accept-encoding|via|idempotency-key)$/i

/**
 * Reads the callable operations of a document. Other operations are omitted with a warning.
 * @throws SoukError `invalid_request` if no operation is left
 */
export function operationsOf(document: OpenapiDocument, terms: OperationTerms): { api: RestApi; warnings: string[] } {
  const schemas = new Schemas(document)
  const reader = new Reader(document, schemas, terms)
  const operations: RestOperation[] = []
  const leftOut: string[] = []
  const names = new Names(reader.warnings)
  for (const [path, given] of Object.entries(objectOf(document.root['paths']))) {
    if (path.startsWith('x-')) continue
    const item = reader.item(given, `The operations of ${path} are`, leftOut) ?? {}
    for (const [method, given] of operationsIn(item)) {
      const operation = reader.item(given, `The operation ${method} ${path} is`, leftOut)
      if (operation === undefined) continue
      const name = names.nameFor(operation, method, path)
      try {
        operations.push(reader.operation({ name, method, path, item, operation }))
        if (operations.length > OPERATIONS_MAX) {
          throw refuse(`The OpenAPI document has more than ${OPERATIONS_MAX} operations, which is the limit. Split it.`)
        }
      } catch (error) {
        if (!(error instanceof LeftOut)) throw error
        leftOut.push(`The operation ${name} is left out: ${error.message}.`)
      }
    }
  }
  if (operations.length === 0) throw refuse(noOperation(document.root, leftOut))
  const definitions = schemas.definitions()
  return {
    api: asMeant({ operations, definitions }),
    warnings: [...leftOut, ...reader.warnings, ...schemas.warnings]
  }
}

/** Also the operations that 3.2 adds: `query`, and those of `additionalOperations`. */
function operationsIn(item: JsonObject): ReadonlyArray<readonly [method: string, operation: JsonObject]> {
  const described = METHODS.map((method) => [method, item[method]] as const)
  return [...described, ...Object.entries(objectOf(item['additionalOperations']))].flatMap(([method, operation]) =>
    isObject(operation) ? [[method, operation] as const] : []
  )
}

function notForwarded(method: string): string {
  const described = method.toLowerCase()
  return FORWARDED.includes(described)
    ? `additionalOperations cannot have the method ${method}; describe it as "${described}" of the path`
    : `${method.toUpperCase()} is never forwarded; describe it with another method`
}

const REASONS_SHOWN = 3

function noOperation(root: JsonObject, leftOut: readonly string[]): string {
  const none = 'The OpenAPI document has no operation to call.'
  if (leftOut.length > 0) return [none, ...leftOut.slice(0, REASONS_SHOWN)].join(' ')
  const isInbound = isObject(root['webhooks']) || isObject(root['x-webhooks'])
  return isInbound ? `${none} It describes webhooks only, which an API sends and nobody calls.` : none
}

interface Place {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly item: JsonObject
  readonly operation: JsonObject
}

class Reader {
  readonly warnings: string[] = []
  readonly #document: OpenapiDocument
  readonly #schemas: Schemas
  readonly #terms: OperationTerms
  readonly #isOld: boolean
  readonly #convert = (schema: unknown): JsonSchema => this.#schemas.convert(schema)

  constructor(document: OpenapiDocument, schemas: Schemas, terms: OperationTerms) {
    this.#document = document
    this.#schemas = schemas
    this.#terms = terms
    this.#isOld = document.version === '2.0'
  }

  /**
   * A path item, or an operation, which in documents of several files often is a reference too. Undefined, with a warning, if its
   * reference has no target.
   */
  item(given: unknown, subject: string, leftOut: string[]): JsonObject | undefined {
    try {
      const { $ref: _, ...own } = objectOf(given)
      return { ...this.#follow(given), ...own }
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error
      leftOut.push(`${subject} left out: ${error.message}.`)
      return undefined
    }
  }

  operation({ name, method, path, item, operation }: Place): RestOperation {
    if (!FORWARDED.includes(method)) throw new LeftOut(notForwarded(method))
    const given = this.#parameters(item, operation)
    if (given.length > OPERATION_FIELDS_MAX) throw new LeftOut(`it has more than ${OPERATION_FIELDS_MAX} parameters`)
    const declared = given.flatMap((one) => this.#parameter(one, name))
    const template = templateOf(path, declared)
    for (const { name: missing } of template.undescribed) {
      this.warnings.push(`The path of ${name} has the undescribed parameter ${missing}: it is taken as a string.`)
    }
    const parameters = [...template.parameters, ...template.undescribed]
    const server = serverOf(this.#terms.servers, [operation['servers'], item['servers']])
    const body = this.#body(given, operation)
    const text = [operation['summary'], operation['description']].find((one) => typeof one === 'string' && one !== '')
    const output = this.#output(operation)
    return {
      name,
      ...(typeof text === 'string' ? { description: text } : {}),
      method: method.toUpperCase(),
      path: template.path,
      ...(template.query === '' ? {} : { query: template.query }),
      ...(server === undefined ? {} : { server }),
      parameters,
      ...(body === undefined ? {} : { body }),
      ...(output === undefined ? {} : { output })
    }
  }

  /** An object, or the target of a reference to one. @throws LeftOut if there is no target */
  #follow(value: unknown): JsonObject {
    let at = value
    for (let hops = 0; isObject(at) && typeof at['$ref'] === 'string'; hops++) {
      const reference = at['$ref']
      at = hops < OPENAPI_HOPS_MAX ? this.#document.references.target(reference) : undefined
      if (at !== undefined) continue
      const why = hops < OPENAPI_HOPS_MAX ? 'has no target' : 'refers to itself, or passes through too many others'
      throw new LeftOut(`its reference ${shownReference(reference)} ${why}; correct it, or add its file`)
    }
    return objectOf(at)
  }

  /** Parameters of the operation override those of the path. */
  #parameters(item: JsonObject, operation: JsonObject): JsonObject[] {
    const all = new Map<string, JsonObject>()
    for (const list of [item['parameters'], operation['parameters']]) {
      if (!Array.isArray(list)) continue
      for (const parameter of list.map((one) => this.#follow(one))) {
        all.set(`${String(parameter['in'])} ${String(parameter['name'])}`, parameter)
      }
    }
    return [...all.values()]
  }

  #parameter(given: JsonObject, operation: string): RestParameter[] {
    const { name, in: place, required = false, schema, content } = given
    if (typeof name !== 'string') return []
    if (place === 'querystring') return this.#wholeQuery(given, name, operation)
    if (place !== 'path' && place !== 'query' && place !== 'header' && place !== 'cookie') return []
    if (this.#terms.isSupplied(place, name) || !this.#isForwarded(given, operation)) return []
    const isNeeded = required === true && !isRequestId(place, name)
    const allowsEmpty = place === 'query' && given['allowEmptyValue'] === true
    const base = {
      name,
      in: place,
      required: isNeeded || place === 'path',
      ...(allowsEmpty ? { allowsEmpty } : {})
    } as const
    if (this.#isOld) {
      const isQuery = place === 'query'
      const own = this.#described(oldSchema(given), given)
      return [{ ...base, schema: own, ...oldSerializationOf(given, isQuery), ...reservedIn(given, place) }]
    }
    const [media] = isObject(content) ? Object.entries(content) : []
    if (media !== undefined) {
      const serialization = isJson(media[0])
        ? ({ style: 'json', explode: false } as const)
        : { style: place === 'query' || place === 'cookie' ? ('form' as const) : ('simple' as const), explode: false }
      const { schema: own, ...examples } = this.#follow(media[1])
      const schema = this.#described(own, { ...examples, ...given })
      return [{ ...base, schema, ...serialization }]
    }
    const serialization = serializationOf(given, place)
    if (serialization === undefined) {
      throw new LeftOut(
        `its parameter ${name} has the style ${String(given['style'])}, which OpenAPI does not have for a ${place} parameter`
      )
    }
    return [{ ...base, schema: this.#described(schema, given), ...serialization, ...reservedIn(given, place) }]
  }

  /** `in: querystring` of 3.2: a form is an object, whose members are the query. @throws LeftOut if it is required, and another type */
  #wholeQuery(given: JsonObject, name: string, operation: string): RestParameter[] {
    const required = given['required'] === true
    const [type = '', media] = Object.entries(objectOf(given['content']))[0] ?? []
    if (bareType(type) === FORM) {
      const { schema, ...examples } = this.#follow(media)
      const own = this.#described(schema, { ...examples, ...given })
      return [{ name, in: 'query', required, schema: own, style: 'form', explode: true }]
    }
    const why = `is a whole query string that is not ${FORM}; describe its members as parameters in "query"`
    if (required) throw new LeftOut(`its parameter ${name} ${why}`)
    this.warnings.push(`The parameter ${name} of ${operation} is left out: it ${why}.`)
    return []
  }

  /** A parameter's schema with its text, its example, and the empty value that a query may allow. */
  #described(schema: unknown, given: JsonObject): JsonSchema {
    const own = this.#convert(schema)
    const allowsEmpty = given['allowEmptyValue'] === true && given['in'] === 'query'
    return annotated(allowsEmpty ? { anyOf: [own, { const: '' }] } : own, given, (value) => this.#find(value))
  }

  /** False for an optional parameter that is never forwarded. @throws LeftOut for a required one */
  #isForwarded({ in: place, name: given, required }: JsonObject, operation: string): boolean {
    const name = String(given)
    if (place === 'cookie') {
      if (this.#terms.takesCookie(name)) return true
      if (required !== true) return false
      throw new LeftOut(
        `it needs the cookie ${name}, and cookies are not forwarded; allow it with --request-cookie ${name}, or set it in the credentials`
      )
    }
    if (place !== 'header' || isExtraHeader(name) || CONDITIONS.test(name) || isRequestId(place, name))
      return place !== 'header' || !DESCRIBED_ELSEWHERE.test(name)
    if (DESCRIBED_ELSEWHERE.test(name) || SET_BY_CLIENT.test(name)) return false
    if (required === true) {
      throw new LeftOut(
        `it needs the header ${name}, which is never forwarded; set it in the credentials (--auth-file)`
      )
    }
    this.warnings.push(`The header ${name} of ${operation} is never forwarded.`)
    return false
  }

  #body(given: readonly JsonObject[], operation: JsonObject): RestBody | undefined {
    const [convert, find] = [this.#convert, (value: unknown) => this.#find(value)]
    if (!this.#isOld) {
      const follow = (value: unknown) => this.#follow(value)
      return requestBody(this.#follow(operation['requestBody']), { convert, follow, find })
    }
    return oldRequestBody(given, operation['consumes'] ?? this.#document.root['consumes'], { convert, find })
  }

  /** The schema of the first successful response, if it is JSON. */
  #output(operation: JsonObject): JsonSchema | undefined {
    const responses = objectOf(operation['responses'])
    const status = Object.keys(responses).find((one) => /^2(?:\d\d|XX)$/i.test(one))
    const response = this.#find(status === undefined ? undefined : responses[status])
    if (this.#isOld) return response['schema'] === undefined ? undefined : this.#convert(response['schema'])
    const content = objectOf(response['content'])
    const type = Object.keys(content).find((one) => isJson(one))
    return type === undefined ? undefined : this.#convert(this.#find(content[type])['schema'])
  }

  /** The target of a reference, without which calls can be made too. Empty if there is none. */
  #find(given: unknown): JsonObject {
    try {
      return this.#follow(given)
    } catch (error) {
      if (error instanceof LeftOut) return {}
      throw error
    }
  }
}

/** Names that are unique within a document. */
class Names {
  readonly #warnings: string[]
  readonly #taken = new Set<string>()

  constructor(warnings: string[]) {
    this.#warnings = warnings
  }

  nameFor({ operationId }: JsonObject, method: string, path: string): string {
    const own = plainName(operationId)
    const plain = own ?? `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`.slice(0, NAME_CHARS_MAX)
    let name = plain
    for (let at = 2; this.#taken.has(name); at++) name = `${plain}_${at}`
    this.#taken.add(name)
    if (own !== undefined && name !== own) {
      this.#warnings.push(
        `Two operations have the operationId ${own.slice(0, 200)}. The one at ${path} is named ${name}.`
      )
    }
    return name
  }
}

/** Room for the number of a name that several operations have. */
const NAME_CHARS_MAX = SUMMARIZED_NAME_CHARS_MAX - `_${OPERATIONS_MAX}`.length

/** An operationId as a listing may show it: one line without control characters. Undefined for an empty or too long one. */
function plainName(operationId: unknown): string | undefined {
  if (typeof operationId !== 'string') return undefined
  const name = operationId.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  return name === '' || name.length > NAME_CHARS_MAX ? undefined : name
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
