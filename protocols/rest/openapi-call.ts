import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { SoukError } from '../../lib/base/errors.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { type JsonObject, plainly } from '../exact-json.ts'
import { type WrittenBody, writeBody } from './openapi-body.ts'
import { type Fields, fieldsOf, withDefinitions } from './openapi-fields.ts'
import type { RestApi, RestOperation } from './openapi-operations.ts'
import { headerText, pathText, queryParts } from './openapi-parameters.ts'

/** A call as it goes to the API. */
export interface MappedCall {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body?: WrittenBody
}

interface Prepared {
  readonly operation: RestOperation
  readonly fields: Fields
  readonly checkParameters: ValidateFunction
  readonly checkBody: ValidateFunction | undefined
}

/** Calls of the operations of an OpenAPI document: checked against it before anything is charged. */
export class OpenapiCalls {
  readonly #api: RestApi
  readonly #ajv: Ajv2020
  readonly #prepared = new Map<string, Prepared>()

  constructor(api: RestApi) {
    this.#api = api
    this.#ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false, addUsedSchema: false })
    addFormats.default(this.#ajv)
  }

  /**
   * @param call - the JSON of a call, `{"operation": …, …fields}`; an API with one operation needs no name.
   * @throws SoukError `invalid_request`, `operation_not_found`
   */
  async map({ operation: name, ...fields }: JsonObject): Promise<MappedCall> {
    const { operation, fields: known, checkParameters, checkBody } = this.#find(name)
    const given = sorted(fields, known)
    check(checkParameters, plainly(given.parameters), '')
    const { body } = operation
    // A body that must be there and is not is an empty one: what it lacks is said.
    const value = given.body === undefined && body?.required === true ? {} : given.body
    if (value !== undefined && checkBody !== undefined) check(checkBody, plainly(value), 'body')
    const { path, query, headers } = placed(operation, given.parameters)
    return {
      method: operation.method,
      path: query.length === 0 ? path : `${path}?${query.join('&')}`,
      headers,
      ...(value === undefined || body === undefined
        ? {}
        : { body: await writeBody(body, value, this.#api.definitions) })
    }
  }

  #find(name: unknown): Prepared {
    const { operations, definitions } = this.#api
    const [only] = operations
    const wanted = name === undefined && operations.length === 1 ? only?.name : name
    if (typeof wanted !== 'string') {
      throw new SoukError('invalid_request', `"operation" must name an operation, such as "${only?.name ?? ''}".`)
    }
    const known = this.#prepared.get(wanted)
    if (known !== undefined) return known
    const operation = operations.find((one) => one.name === wanted)
    if (operation === undefined) {
      throw new SoukError('operation_not_found', `The API has no operation "${wanted.slice(0, 80)}".`)
    }
    const fields = fieldsOf(operation, definitions)
    const { body } = operation
    const prepared: Prepared = {
      operation,
      fields,
      checkParameters: this.#compile(parametersSchema(operation)),
      checkBody: body === undefined ? undefined : this.#compile(body.schema)
    }
    this.#prepared.set(wanted, prepared)
    return prepared
  }

  #compile(schema: JsonObject): ValidateFunction {
    try {
      return this.#ajv.compile(withDefinitions(schema, this.#api.definitions))
    } catch (cause) {
      throw new SoukError('internal_error', 'The description of this operation cannot be checked against.', { cause })
    }
  }
}

/** By their names with the place in front: those are unique. */
function parametersSchema({ parameters }: RestOperation): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((one) => [`${one.in}.${one.name}`, one.schema])),
    required: parameters.filter(({ required }) => required).map((one) => `${one.in}.${one.name}`)
  }
}

interface Sorted {
  /** By `place.name`. */
  readonly parameters: Record<string, unknown>
  /** Undefined where none is given. */
  readonly body: unknown
}

/** @throws SoukError `invalid_request` */
function sorted(fields: JsonObject, { places, ambiguous, takesMore }: Fields): Sorted {
  const parameters: Record<string, unknown> = {}
  const members: Record<string, unknown> = {}
  let whole: { readonly value: unknown } | undefined
  for (const [name, value] of Object.entries(fields)) {
    const place = places.get(name)
    if (place?.kind === 'parameter') set(parameters, `${place.parameter.in}.${place.parameter.name}`, value, name)
    else if (place?.kind === 'property') set(members, place.name, value, name)
    else if (place?.kind === 'body') whole = { value }
    else if (ambiguous.has(name)) throw refuse(`The field "${name}" is in several places: ${choices(name, places)}.`)
    else if (takesMore) set(members, name.replace(/^body\./, ''), value, name)
    else throw refuse(`The operation has no field "${name.slice(0, 80)}".`)
  }
  const hasMembers = Object.keys(members).length > 0
  if (whole !== undefined && hasMembers) throw refuse('Give the body as a whole or field by field, not both.')
  const body = whole === undefined ? (hasMembers ? members : undefined) : whole.value
  return { parameters, body }
}

function set(target: Record<string, unknown>, key: string, value: unknown, name: string): void {
  if (Object.hasOwn(target, key)) throw refuse(`The field "${name}" is given twice.`)
  // Not by assignment: `__proto__` is a name like any other.
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

function choices(name: string, places: Fields['places']): string {
  return ['path', 'query', 'header', 'body']
    .map((where) => `${where}.${name}`)
    .filter((one) => places.has(one))
    .map((one) => `"${one}"`)
    .join(' or ')
}

function placed(operation: RestOperation, values: Record<string, unknown>) {
  let { path } = operation
  const query: string[] = []
  const headers: Array<[string, string]> = []
  for (const parameter of operation.parameters) {
    const value = values[`${parameter.in}.${parameter.name}`]
    if (value === undefined) continue
    if (parameter.in === 'path') path = path.replaceAll(`{${parameter.name}}`, () => pathText(parameter, value))
    else if (parameter.in === 'query') query.push(...queryParts(parameter, value))
    else if (value !== null) headers.push([parameter.name.toLowerCase(), headerText(parameter, value)])
  }
  return { path, query, headers }
}

function check(validate: ValidateFunction, value: unknown, where: string): void {
  if (validate(value)) return
  const [error] = validate.errors ?? []
  throw refuse(error === undefined ? 'The fields are not as the API describes them.' : explained(error, where))
}

/** In words of the fields that a call has, which are those of the path and query, and of the body by its members. */
function explained({ instancePath, message = 'is not valid', params }: ErrorObject, where: string): string {
  const at = instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
  const allowed = 'allowedValues' in params ? `: ${JSON.stringify(params['allowedValues']).slice(0, 300)}` : ''
  const field = at === '' ? (where === '' ? 'The call' : 'The body') : `The field "${at.slice(0, 200)}"`
  return `${field} ${message}${allowed}.`
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
