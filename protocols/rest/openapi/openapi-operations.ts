import { SoukError } from '../../../lib/base/errors.ts'
import { isExtraHeader } from '../../../lib/base/extra-header.ts'
import { OPERATIONS_MAX } from '../../../lib/base/limits/names.ts'
import { OPERATION_FIELDS_MAX } from '../../../lib/base/limits/rest.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { isJsonType } from '../../json.ts'
import type { OpenapiDocument } from './openapi-document.ts'
import { type Definitions, found, Schemas } from './openapi-schemas.ts'

export type ParameterStyle = 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json'

export interface RestParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonSchema
  readonly style: ParameterStyle
  readonly explode: boolean
}

export interface RestBody {
  readonly required: boolean
  /** Media type, without parameters. */
  readonly type: string
  readonly schema: JsonSchema
}

/** One operation of an imported document, with everything that a call needs. */
export interface RestOperation {
  readonly name: string
  readonly description?: string
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  readonly parameters: readonly RestParameter[]
  readonly body?: RestBody
  readonly output?: JsonSchema
}

export interface RestApi {
  readonly operations: readonly RestOperation[]
  readonly definitions: Definitions
}

/** The maximum length of a chain of references, outside of schemas. */
const REFERENCES_MAX = 10

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const
/** Headers that OpenAPI describes by other means (3.1, section 4.8.12). */
const DESCRIBED_ELSEWHERE = /^(?:accept|content-type|authorization)$/i
const STYLES: readonly string[] = ['simple', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject']
const BODY_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']

/**
 * Reads the callable operations of a document. Other operations are omitted with a warning.
 * @throws SoukError `invalid_request` if no operation is left
 */
export function operationsOf(document: OpenapiDocument): { api: RestApi; warnings: string[] } {
  const schemas = new Schemas(document)
  const reader = new Reader(document, schemas)
  const operations: RestOperation[] = []
  const warnings: string[] = []
  const names = new Set<string>()
  for (const [path, given] of Object.entries(objectOf(document.root['paths']))) {
    const item = reader.follow(given)
    for (const method of METHODS) {
      const operation = item[method]
      if (!isObject(operation)) continue
      const name = nameFor(operation, method, path, names)
      try {
        operations.push(reader.operation({ name, method, path, item, operation }))
        names.add(name)
        if (operations.length > OPERATIONS_MAX) {
          throw refuse(`The OpenAPI document has more than ${OPERATIONS_MAX} operations.`)
        }
      } catch (error) {
        if (!(error instanceof LeftOut)) throw error
        warnings.push(`The operation ${name} is left out: ${error.message}.`)
      }
    }
  }
  if (operations.length === 0) throw refuse('The OpenAPI document has no operation to call.')
  return { api: { operations, definitions: schemas.definitions() }, warnings: [...warnings, ...reader.warnings] }
}

class LeftOut extends Error {}

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
  readonly #isOld: boolean

  constructor(document: OpenapiDocument, schemas: Schemas) {
    this.#document = document
    this.#schemas = schemas
    this.#isOld = document.version === '2.0'
  }

  operation({ name, method, path, item, operation }: Place): RestOperation {
    if (!path.startsWith('/') || /[?#]/.test(path)) throw new LeftOut(`its path ${path} is not valid`)
    const given = this.#parameters(item, operation)
    if (given.length > OPERATION_FIELDS_MAX) throw new LeftOut(`it has more than ${OPERATION_FIELDS_MAX} parameters`)
    const parameters = given.flatMap((one) => this.#parameter(one, name))
    const inPath = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, parameter]) => parameter)
    const missing = inPath.find((one) => !parameters.some((known) => known.in === 'path' && known.name === one))
    if (missing !== undefined) throw new LeftOut(`its path has the undescribed parameter ${missing}`)
    const body = this.#isOld ? this.#oldBody(given, operation) : this.#body(operation)
    const text = [operation['summary'], operation['description']].find((one) => typeof one === 'string' && one !== '')
    const output = this.#output(operation)
    return {
      name,
      ...(typeof text === 'string' ? { description: text } : {}),
      method: method.toUpperCase(),
      path,
      parameters,
      ...(body === undefined ? {} : { body }),
      ...(output === undefined ? {} : { output })
    }
  }

  /** An object, or the target of a reference to one; empty if there is no target. */
  follow(value: unknown): JsonObject {
    let at = value
    for (let hops = 0; isObject(at) && typeof at['$ref'] === 'string' && hops < REFERENCES_MAX; hops++) {
      at = found(this.#document.root, at['$ref'])
    }
    if (isObject(at) && typeof at['$ref'] === 'string') {
      throw refuse(
        `The reference ${JSON.stringify(at['$ref'].slice(0, 200))} refers to itself, or passes through too many others.`
      )
    }
    return objectOf(at)
  }

  /** Parameters of the operation override those of the path. */
  #parameters(item: JsonObject, operation: JsonObject): JsonObject[] {
    const all = new Map<string, JsonObject>()
    for (const list of [item['parameters'], operation['parameters']]) {
      if (!Array.isArray(list)) continue
      for (const parameter of list.map((one) => this.follow(one))) {
        all.set(`${String(parameter['in'])} ${String(parameter['name'])}`, parameter)
      }
    }
    return [...all.values()]
  }

  #parameter(given: JsonObject, operation: string): RestParameter[] {
    const { name, in: place, required = false, style: asked, explode: wanted, schema, content } = given
    if (typeof name !== 'string' || place === 'body' || place === 'formData') return []
    if (place === 'cookie') {
      if (required === true) throw new LeftOut(`it needs the cookie ${name}, and cookies are never forwarded`)
      return []
    }
    if (place === 'header' && DESCRIBED_ELSEWHERE.test(name)) return []
    if (place === 'header' && !isExtraHeader(name)) {
      if (required === true) throw new LeftOut(`it needs the header ${name}, which is never forwarded`)
      this.warnings.push(`The header ${name} of ${operation} is never forwarded.`)
      return []
    }
    if (place !== 'path' && place !== 'query' && place !== 'header') return []
    const base: Pick<RestParameter, 'name' | 'in' | 'required'> = {
      name,
      in: place,
      required: required === true || place === 'path'
    }
    if (this.#isOld) return [{ ...base, schema: this.#schemas.convert(oldSchema(given)), ...oldStyle(given) }]
    if (isObject(content)) {
      const [media] = Object.values(content)
      return [{ ...base, schema: this.#schemas.convert(objectOf(media)['schema']), style: 'json', explode: false }]
    }
    const style = typeof asked === 'string' ? asked : place === 'query' ? 'form' : 'simple'
    if (!STYLES.includes(style)) throw new LeftOut(`its parameter ${name} has the style ${style}`)
    const explode = typeof wanted === 'boolean' ? wanted : style === 'form'
    return [{ ...base, schema: this.#schemas.convert(schema), style: style as ParameterStyle, explode }]
  }

  #body(operation: JsonObject): RestBody | undefined {
    const body = this.follow(operation['requestBody'])
    const content = objectOf(body['content'])
    const types = Object.keys(content)
    const chosen =
      types.find((type) => isJsonType(type)) ??
      types.find((type) => BODY_TYPES.includes(bare(type))) ??
      // A wildcard type includes JSON.
      types.find((type) => /^(?:\*|application)\/\*$/.test(bare(type))) ??
      types[0]
    if (chosen === undefined) return undefined
    const schema = this.#schemas.convert(objectOf(content[chosen])['schema'])
    const type = chosen.includes('*') ? 'application/json' : bare(chosen)
    return { required: body['required'] === true, type, schema }
  }

  #oldBody(parameters: readonly JsonObject[], operation: JsonObject): RestBody | undefined {
    const body = parameters.find((parameter) => parameter['in'] === 'body')
    const consumes = operation['consumes'] ?? this.#document.root['consumes']
    const types = Array.isArray(consumes) ? consumes.filter((type) => typeof type === 'string') : []
    if (body !== undefined) {
      const type = types.find((one) => isJsonType(one)) ?? types[0] ?? 'application/json'
      return { required: body['required'] === true, type: bare(type), schema: this.#schemas.convert(body['schema']) }
    }
    const fields = parameters.filter((parameter) => parameter['in'] === 'formData')
    if (fields.length === 0) return undefined
    const isMultipart =
      types.some((type) => bare(type) === 'multipart/form-data') || fields.some(({ type }) => type === 'file')
    const required = fields.filter((field) => field['required'] === true).map(({ name }) => String(name))
    return {
      required: required.length > 0,
      type: isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded',
      schema: {
        type: 'object',
        properties: Object.fromEntries(
          fields.map((field) => [String(field['name']), this.#schemas.convert(oldSchema(field))])
        ),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false
      }
    }
  }

  /** The schema of the first successful response, if it is JSON. */
  #output(operation: JsonObject): JsonSchema | undefined {
    const responses = objectOf(operation['responses'])
    const status = Object.keys(responses).find((one) => /^2(?:\d\d|XX)$/i.test(one))
    const response = this.follow(status === undefined ? undefined : responses[status])
    if (this.#isOld) return response['schema'] === undefined ? undefined : this.#schemas.convert(response['schema'])
    const content = objectOf(response['content'])
    const type = Object.keys(content).find((one) => isJsonType(one))
    return type === undefined ? undefined : this.#schemas.convert(objectOf(content[type])['schema'])
  }
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function bare(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** In 2.0 a parameter is its own schema. */
function oldSchema({ name: _, in: __, required: ___, ...schema }: JsonObject): JsonObject {
  return schema
}

function oldStyle({ collectionFormat, in: place }: JsonObject): Pick<RestParameter, 'style' | 'explode'> {
  if (place !== 'query') return { style: 'simple', explode: false }
  if (collectionFormat === 'ssv') return { style: 'spaceDelimited', explode: false }
  if (collectionFormat === 'pipes') return { style: 'pipeDelimited', explode: false }
  return { style: 'form', explode: collectionFormat === 'multi' }
}

function nameFor({ operationId }: JsonObject, method: string, path: string, taken: ReadonlySet<string>): string {
  if (typeof operationId === 'string' && operationId !== '') {
    if (!taken.has(operationId)) return operationId
    throw refuse(
      `The OpenAPI document has two operations with the operationId ${JSON.stringify(operationId.slice(0, 200))}.`
    )
  }
  const plain = `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`
  let name = plain
  for (let at = 2; taken.has(name); at++) name = `${plain}_${at}`
  return name
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
