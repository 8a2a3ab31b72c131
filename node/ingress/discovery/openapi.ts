import { formatUsdc } from '../../../lib/index.ts'
import { descriptorOf } from '../../../protocols/protocol-descriptors.ts'
import { termsLines } from '../../subscriptions/plan-words.ts'
import { termsView } from '../../subscriptions/terms-view.ts'
import type { ApiDescription, JsonSchema, Operation, SignedManifest } from '../../../lib/interface/index.ts'

const ANSWER = 'The response of the API. Charged only if the call succeeded.'
const PROBLEM =
  'A problem document (RFC 9457). Nothing was charged, unless the document says that the charge is unknown.'

/**
 * OpenAPI 3.1 of an API as the ingress serves it: one POST whose body names the operation. It depends only on the signed manifest and
 * the description under its root, so every ingress returns the same document.
 */
export function openapiOf({ id, manifest }: SignedManifest, api: ApiDescription, baseUrl: string, now: number) {
  const terms = termsView(manifest, now)
  const cost = terms.pay_per_call ? [`${formatUsdc(manifest.price)} USDC per call.`] : []
  const { name, provider, protocol, description, revision } = manifest
  const schemas: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(api.definitions ?? {}))
    schemas[SHARED + escaped(name)] = follow(schema, new Set(), '')
  const { request, unnamedOperation } = descriptorOf(protocol) ?? {}
  const calls = api.operations.map((operation) => callSchema(operation, unnamedOperation, schemas))
  const body = request?.schema ?? (calls.length === 0 ? { type: 'object' } : undefined)
  return {
    openapi: '3.1.0',
    info: {
      title: name,
      version: String(revision),
      description: [description, [...cost, ...termsLines(terms), id].join('\n')].join('\n\n').trim(),
      'x-souk': { api: id, price: formatUsdc(manifest.price), currency: manifest.currency, ...terms }
    },
    servers: [{ url: baseUrl }],
    paths: {
      [`/api/${provider}/api/${name}`]: {
        post: {
          operationId: name,
          security: [{ key: [] }],
          parameters: [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } }],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: body ?? (calls.length === 1 ? calls[0] : { oneOf: calls }) } }
          },
          responses: {
            '2XX': {
              description: ANSWER,
              content: { 'application/json': { schema: responseSchema(api.operations, schemas) } }
            },
            default: { description: PROBLEM, content: { 'application/problem+json': { schema: { type: 'object' } } } }
          }
        }
      }
    },
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Consumer-Key' } },
      ...(Object.keys(schemas).length === 0 ? {} : { schemas })
    }
  }
}

/** An API without a description has one operation, which a call does not name. */
function callSchema(
  { name, description, input }: Operation,
  unnamed: string | undefined,
  schemas: Record<string, unknown>
): JsonSchema {
  const own = input === undefined ? { type: 'object' } : moved(input, name, 'input', schemas)
  if (name === unnamed) return own
  const { properties, required, ...rest } = own as { properties?: object; required?: string[] }
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    properties: { operation: { const: name }, ...properties },
    // JSON Schema requires unique names, and the schema of a SOAP service lists `operation` itself.
    required: [...new Set(['operation', ...(required ?? [])])]
  }
}

function responseSchema(operations: readonly Operation[], schemas: Record<string, unknown>): JsonSchema {
  const known = operations.flatMap(({ name, output }) =>
    output === undefined ? [] : [moved(output, name, 'output', schemas)]
  )
  if (known.length < operations.length || known.length === 0) return {}
  return known.length === 1 ? (known[0] ?? {}) : { anyOf: known }
}

/** Prefix of schemas that operations share. */
const SHARED = 'types.'

/** Names in `components` allow these characters only. */
const escaped = (name: string): string => name.replaceAll(/[^A-Za-z0-9._-]/g, '_')

/** Moves the schema’s definitions into the document: `#/$defs/…` would refer to the document’s root. */
function moved(
  schema: JsonSchema,
  operation: string,
  part: 'input' | 'output',
  schemas: Record<string, unknown>
): JsonSchema {
  const prefix = `${escaped(operation)}.${part}.`
  const { $defs, ...rest } = schema
  const own = new Set(typeof $defs === 'object' && $defs !== null ? Object.keys($defs) : [])
  if (typeof $defs === 'object' && $defs !== null) {
    for (const [name, definition] of Object.entries($defs))
      schemas[prefix + escaped(name)] = follow(definition, own, prefix)
  }
  return follow(rest, own, prefix) as JsonSchema
}

/** @param own - names that the schema itself defines. All others are shared */
function follow(value: unknown, own: ReadonlySet<string>, prefix: string): unknown {
  if (Array.isArray(value)) return value.map((member) => follow(member, own, prefix))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => {
    if (key !== '$ref' || typeof member !== 'string' || !member.startsWith(DEFINITION))
      return [key, follow(member, own, prefix)]
    const name = member.slice(DEFINITION.length)
    return [key, `#/components/schemas/${own.has(name) ? prefix : SHARED}${escaped(name)}`]
  })
  return Object.fromEntries(entries)
}

const DEFINITION = '#/$defs/'
