import type { z } from 'zod'
import { describeSchema, type JsonSchema } from './json-schema.ts'
import { type RouteDeclaration, statusOf } from './route.ts'
import { problemSchema } from './schemas.ts'

/** A route as an OpenAPI operation. */
export interface Operation extends RouteDeclaration {
  /** Groups operations in tools. */
  readonly tag: string
  /** Path parameters and request headers, by name. A parameter without a schema is a string. */
  readonly params?: Readonly<Record<string, z.ZodType>>
  readonly headers?: Readonly<Record<string, z.ZodType>>
  /** Alternatives, as in OpenAPI. Absent: no authentication. */
  readonly security?: ReadonlyArray<Readonly<Record<string, readonly string[]>>>
  /** Error responses, by status. */
  readonly refusals?: Readonly<Record<string, object>>
}

export interface DocumentInit {
  readonly title: string
  readonly version: string
  readonly description: string
  /** Prefix of all paths. */
  readonly server: string
  readonly securitySchemes: Readonly<Record<string, object>>
  readonly operations: readonly Operation[]
}

export const PROBLEM_CONTENT = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } }
} as const

/** The OpenAPI 3.1 document of an HTTP surface, generated from its routes. */
export function openapiDocument({ title, version, description, server, securitySchemes, operations }: DocumentInit) {
  const components = new Components()
  components.of(problemSchema, 'output')
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}')
    const methods = (paths[path] ??= {})
    methods[operation.method.toLowerCase()] = operationObject(operation, path, components)
  }
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: server }],
    paths,
    components: { securitySchemes, schemas: components.sorted() }
  }
}

/** Named schemas, each described once. */
class Components {
  readonly #schemas = new Map<string, JsonSchema>()

  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const { schema: described, definitions } = describeSchema(schema, io)
    for (const [name, each] of Object.entries(definitions)) this.#schemas.set(name, moved(each))
    return moved(described)
  }

  sorted(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}

/** Turns references to definitions into references to components. */
function moved(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonSchema
}

function operationObject(operation: Operation, path: string, components: Components) {
  const { method, summary, tag, security, body } = operation
  const parameters = parametersOf(operation, path, components)
  return {
    operationId: `${method} ${path}`.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, ''),
    summary,
    tags: [tag],
    ...(security === undefined ? {} : { security }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, components) }),
    responses: responsesOf(operation, components)
  }
}

function requestBody(body: z.ZodType, components: Components) {
  const isRequired = !body.safeParse(undefined).success
  return {
    ...(isRequired ? { required: true } : {}),
    content: { 'application/json': { schema: components.of(body, 'input') } }
  }
}

function responsesOf(operation: Operation, components: Components) {
  const { summary: description, response, otherResponses = {}, refusals, mediaType = 'application/json' } = operation
  const [type = mediaType] = mediaType.split(';')
  const contentOf = (schema: z.ZodType, media: string) => ({
    description,
    content: { [media]: { schema: components.of(schema, 'output') } }
  })
  return {
    ...refusals,
    ...Object.fromEntries(
      Object.entries(otherResponses).map(([status, schema]) => [status, contentOf(schema, 'application/json')])
    ),
    [String(statusOf(operation))]: response === undefined ? { description } : contentOf(response, type),
    default: { description: 'A problem document (RFC 9457). Match on its `code`.', content: PROBLEM_CONTENT }
  }
}

function parametersOf({ params = {}, query, headers = {} }: Operation, path: string, components: Components) {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const schema = params[name]
    return { name, in: 'path', required: true, ...(schema ? parameterOf(components.of(schema, 'input')) : TEXT) }
  })
  return [...named, ...queryOf(query, components), ...headersOf(headers, components)]
}

const TEXT = { schema: { type: 'string' } }

function queryOf(query: z.ZodType | undefined, components: Components) {
  if (query === undefined) return []
  // Use the output schema: its types (such as numbers) say more than the text in the URL. A default makes a parameter optional.
  const { properties = {}, required = [] } = components.of(query, 'output') as ObjectSchema
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && schema['default'] === undefined ? { required: true } : {}),
    ...parameterOf(schema)
  }))
}

function headersOf(headers: NonNullable<Operation['headers']>, components: Components) {
  return Object.entries(headers).map(([name, schema]) => ({
    name,
    in: 'header',
    ...parameterOf(components.of(schema, 'input'))
  }))
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

function parameterOf({ description, ...schema }: JsonSchema) {
  return { ...(description === undefined ? {} : { description }), schema }
}
