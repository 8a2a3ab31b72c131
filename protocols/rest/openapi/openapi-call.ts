import { setMember } from '../../../lib/base/set-member.ts'
import { LRUCache } from 'lru-cache'
import { systemClock } from '../../../lib/base/clock.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { HEADER_BYTES_MAX, PATH_BYTES_MAX } from '../../../lib/base/limits/call.ts'
import { CALL_CHECKS_CHARS_MAX } from '../../../lib/base/limits/rest.ts'
import { SingleFlight } from '../../../lib/base/single-flight.ts'
import { within } from '../../../lib/base/within.ts'
import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import type { Headers } from '../../../lib/interface/payload.ts'
import { isObject, type JsonObject, plainly } from '../../exact-json.ts'
import { CallCheck } from '../call-check/call-check.ts'
import { callSchemas, NOT_CHECKED } from '../call-check/call-schemas.ts'
import type { SchemaProblem } from '../call-check/schema-problem.ts'
import { SlowChecks } from '../call-check/slow-checks.ts'
import { type WrittenBody, writeBody } from './openapi-body.ts'
import { type BodyMember, type Fields, fieldsOf } from './openapi-fields.ts'
import { checkOptional, headerText, partsOf, pathText } from './openapi-parameters.ts'
import { isRequestId, type RestApi, type RestOperation } from './rest-api.ts'
import { isTextCall, typed } from './text-call.ts'
import { textValues } from './text-values.ts'
import { WrittenSize } from './written-size.ts'

/** A call in the form sent to the API. */
export interface MappedCall {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  /** `name=value` each. */
  readonly cookies?: readonly string[]
  /** Base address, where it differs from the API's endpoint. */
  readonly server?: string
  readonly body?: WrittenBody
  /** The operation has a header for an id of the request, and the call names none. */
  readonly needsRequestId?: true
}

interface Prepared {
  readonly operation: RestOperation
  readonly fields: Fields
  /** Undefined if the schemas are too large to be checked. */
  readonly check: CallCheck | undefined
}

const PARTLY_CHECKED = 'are not all checked: the check that is made of its schemas fails for some.'

const SHOWN_CHARS_MAX = 200

/** Never aborts. Several callers wait for the same result, so it must not depend on the signal of one of them. */
const FOREVER = new AbortController().signal

/** Calls of the operations of an OpenAPI document, checked against it before anything is charged. */
export class OpenapiCalls {
  readonly #api: RestApi
  readonly #operations: ReadonlyMap<string, RestOperation>
  readonly #prepared = new LRUCache<string, Prepared>({
    maxSize: CALL_CHECKS_CHARS_MAX,
    sizeCalculation: ({ check }) => Math.max(1, check?.code.length ?? 0)
  })
  readonly #slow = new SlowChecks(systemClock)
  readonly #unchecked = new Map<string, string>()
  readonly #preparing = new SingleFlight<string, Prepared>()

  constructor(api: RestApi) {
    this.#api = api
    this.#operations = new Map(api.operations.map((operation) => [operation.name, operation]))
  }

  /** Sentences about the operations whose calls turned out to be impossible to check. */
  get warnings(): readonly string[] {
    return [...this.#unchecked].map(([name, problem]) => `Calls of ${name} ${problem}`)
  }

  /**
   * Maps a call to a request.
   * @param call `{"operation": …, …fields}`; an API with one operation needs no name
   * @throws SoukError `invalid_request`, `request_too_large`, `operation_not_found`, `description_too_complex`, `overloaded`
   */
  async map(call: JsonObject, signal: AbortSignal): Promise<MappedCall> {
    const { operation: name, ...fieldsGiven } = call
    const { operation, fields: known, check } = await this.#find(name, signal)
    const fields = isTextCall(call) ? this.#typed(fieldsGiven, known) : fieldsGiven
    const given = sorted(fields, known)
    const { body } = operation
    // A missing required body is checked as an empty object, so that the error lists its missing fields.
    const value = given.body === undefined && body?.required === true ? {} : given.body
    const values = {
      parameters: plainly(given.parameters) as JsonObject,
      ...(value === undefined ? {} : { body: plainly(value) })
    }
    const isRefused = (await check?.problemOf(values, signal)) !== undefined
    const problem = isRefused
      ? await check?.problemOf(textValues(operation, values, this.#api.definitions), signal)
      : undefined
    if (problem !== undefined) throw refuse(explained(problem, known))
    const { path, query, headers, cookies, needsRequestId } = placed(operation, given.parameters)
    return {
      method: operation.method,
      path: query.length === 0 ? path : `${path}?${query.join('&')}`,
      headers,
      ...(cookies.length === 0 ? {} : { cookies }),
      ...(needsRequestId ? { needsRequestId } : {}),
      ...(operation.server === undefined ? {} : { server: operation.server }),
      ...(value === undefined || body === undefined ? {} : { body: writeBody(body, value, this.#api.definitions) })
    }
  }

  #typed(texts: JsonObject, { schema }: Fields): JsonObject {
    const { properties } = schema
    const schemas = isObject(properties) ? properties : {}
    const values = Object.entries(texts).map(([name, text]) => [
      name,
      typed(text, schemas[name], this.#api.definitions)
    ])
    return Object.fromEntries(values) as JsonObject
  }

  async #find(name: unknown, signal: AbortSignal): Promise<Prepared> {
    const { operations } = this.#api
    const [only] = operations
    const wanted = name === undefined && operations.length === 1 ? only?.name : name
    if (typeof wanted !== 'string') {
      throw new SoukError('invalid_request', `"operation" must name an operation, such as "${only?.name ?? ''}".`)
    }
    const known = this.#prepared.get(wanted)
    if (known !== undefined) return known
    const operation = this.#operations.get(wanted)
    if (operation === undefined) {
      throw new SoukError('operation_not_found', `The API has no operation "${wanted.slice(0, 80)}".`)
    }
    const preparing = this.#preparing.run(wanted, () => this.#prepare(operation))
    return within(preparing, signal)
  }

  async #prepare(operation: RestOperation): Promise<Prepared> {
    const { name } = operation
    const schemas = callSchemas(operation, this.#api.definitions)
    const code = schemas && (await this.#slow.code(name, schemas, FOREVER))
    if (schemas !== undefined && code === undefined) this.#unchecked.set(name, NOT_CHECKED)
    const onFault = () => void this.#unchecked.set(name, PARTLY_CHECKED)
    const check = code === undefined ? undefined : new CallCheck(name, code, this.#slow, onFault)
    const prepared = { operation, fields: fieldsOf(operation, this.#api.definitions), check }
    this.#prepared.set(name, prepared)
    return prepared
  }
}

interface Sorted {
  /** By `place.name`. */
  readonly parameters: Record<string, unknown>
  /** Undefined if none is given. */
  readonly body: unknown
}

/** @throws SoukError `invalid_request` */
function sorted(fields: JsonObject, { places, ambiguous, takesMore, schema }: Fields): Sorted {
  const parameters: Record<string, unknown> = {}
  const members: Record<string, unknown> = {}
  let whole: { readonly value: unknown } | undefined
  for (const [name, value] of Object.entries(fields)) {
    const place = places.get(name)
    // Null is not sent (RFC 6570, section 2.3). Agents give it for each parameter that they do not use.
    if (place?.kind === 'parameter' && value === null && !place.parameter.required) continue
    if (place?.kind === 'parameter') set(parameters, `${place.parameter.in}.${place.parameter.name}`, value, name)
    else if (place?.kind === 'property') set(members, place.name, value, name)
    else if (place?.kind === 'body' && isMember(place.member, value)) set(members, 'body', value, name)
    else if (place?.kind === 'body') whole = { value }
    else if (ambiguous.has(name))
      throw refuse(`The field "${name}" exists in several places. Use ${choices(name, places)}.`)
    else if (takesMore) set(members, name.replace(/^body\./, ''), value, name)
    else throw refuse(`The operation has no field "${name.slice(0, 80)}".${bodyHint(schema)}`)
  }
  const hasMembers = Object.keys(members).length > 0
  if (whole !== undefined && hasMembers) throw refuse('Give the body as a whole or field by field, not both.')
  const body = whole === undefined ? (hasMembers ? members : undefined) : whole.value
  return { parameters, body }
}

/** Callers may give the members of a body that has to be given as a whole. */
function bodyHint({ properties }: JsonSchema): string {
  return isObject(properties) && Object.hasOwn(properties, 'body') ? ' Give the whole body as the field "body".' : ''
}

/** Whether the field `body` is the body's member of that name. A whole body is an object. @throws SoukError `invalid_request` */
function isMember(member: BodyMember | undefined, value: unknown): boolean {
  if (member === undefined || (member === 'other' && isObject(value))) return false
  if (isObject(value))
    throw refuse('The field "body" can be the body or its member "body". Name the member "body.body".')
  return true
}

function set(target: Record<string, unknown>, key: string, value: unknown, name: string): void {
  if (Object.hasOwn(target, key)) throw refuse(`The field "${name}" is given twice.`)
  setMember(target, key, value)
}

function choices(name: string, places: Fields['places']): string {
  return ['path', 'query', 'header', 'cookie', 'body']
    .map((where) => `${where}.${name}`)
    .filter((one) => places.has(one))
    .map((one) => `"${one}"`)
    .join(' or ')
}

function placed(operation: RestOperation, values: Record<string, unknown>) {
  let path = operation.path
  let fixed = operation.query ?? ''
  const target = new WrittenSize('path and query', PATH_BYTES_MAX)
  const header = new WrittenSize('header', HEADER_BYTES_MAX)
  target.add(path.length + fixed.length)
  const query: string[] = []
  const headers: Array<[string, string]> = []
  const cookies: string[] = []
  let needsRequestId = false
  for (const parameter of operation.parameters) {
    const value = values[`${parameter.in}.${parameter.name}`]
    if (value === undefined || (parameter.in === 'header' && isUndefined(value))) {
      if (value !== undefined) checkOptional(parameter)
      needsRequestId ||= isRequestId(parameter.in, parameter.name)
      continue
    }
    if (parameter.in === 'path') {
      const [braced, text] = [`{${parameter.name}}`, pathText(parameter, value, target)]
      path = path.replaceAll(braced, () => text)
      fixed = fixed.replaceAll(braced, () => text)
    } else if (parameter.in === 'query') query.push(...partsOf(parameter, value, target))
    else if (parameter.in === 'cookie') cookies.push(...partsOf(parameter, value, header))
    else headers.push([parameter.name.toLowerCase(), headerText(parameter, value, header)])
  }
  return { path, query: fixed === '' ? query : [fixed, ...query], headers, cookies, needsRequestId }
}

/** RFC 6570, section 2.3: null, and a list or an object without members, is an undefined value. */
function isUndefined(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** Formats a problem with the call's own field names. */
function explained({ path, rule }: SchemaProblem, fields: Fields): string {
  const [, where, first = '', ...others] = path
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (where === 'body') {
    const at = [fields.ambiguous.has(first) ? `body.${first}` : first, ...others].join('/').slice(0, SHOWN_CHARS_MAX)
    return `${at === '' ? 'The body' : `The field "${at}"`} ${rule}.`
  }
  if (first === '') return `The call ${rule.replace(/"(.*)"$/, (_, key: string) => `"${plainName(key, fields)}"`)}.`
  return `The field "${[plainName(first, fields), ...others].join('/').slice(0, SHOWN_CHARS_MAX)}" ${rule}.`
}

/** The field of a parameter: its name, with the place in front only if several fields have the name. */
function plainName(key: string, { places }: Fields): string {
  const name = key.slice(key.indexOf('.') + 1)
  return places.has(name) && places.get(name) === places.get(key) ? name : key
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
