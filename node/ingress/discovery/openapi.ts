import { formatUsdc, limits } from '../../../lib/index.ts'
import { descriptorOf } from '../../../protocols/protocol-descriptors.ts'
import { termsLines } from '../../subscriptions/plan-words.ts'
import { termsView } from '../../subscriptions/terms-view.ts'
import type {
  ApiDescription,
  Clock,
  JsonSchema,
  Manifest,
  Operation,
  SignedManifest
} from '../../../lib/interface/index.ts'

const ANSWER = 'The response of the API. Charged only if the call succeeded.'
const PAYMENT_REQUIRED = 'Pay for this call as a header states (x402, or the scheme `Payment`), or send a key.'
const PROBLEM =
  'A problem document (RFC 9457). Nothing was charged, unless the document says that the charge is unknown.'

export interface OpenapiInit {
  readonly baseUrl: string
  readonly clock: Pick<Clock, 'now' | 'soon'>
  /** Calls without a key can pay. Default false. */
  readonly isKeyless?: boolean | undefined
}

/**
 * OpenAPI 3.1 of an API as the ingress serves it: one POST whose body names the operation. It depends only on the signed manifest,
 * the description under its root, and whether calls without a key can pay, so ingresses return the same document. It is made with pauses, so that calls are not delayed.
 */
export async function openapiOf(
  { id, manifest }: SignedManifest,
  api: ApiDescription,
  { baseUrl, clock, isKeyless = false }: OpenapiInit
) {
  const terms = termsView(manifest, clock.now())
  const turn = () =>
    new Promise<void>((resolve) => {
      clock.soon(resolve)
    })
  const cost = terms.pay_per_call ? [`${formatUsdc(manifest.price)} USDC per call.`] : []
  const { name, provider, protocol, description, revision } = manifest
  const schemas: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(api.definitions ?? {})) {
    schemas[SHARED + escaped(name)] = follow(schema, new Set(), '')
    await turn()
  }
  const { request, unnamedOperation } = descriptorOf(protocol) ?? {}
  const [calls, responses]: [JsonSchema[], JsonSchema[]] = [[], []]
  for (const [at, operation] of api.operations.entries()) {
    const { name, input, output } = operation
    // A long name would be repeated by each reference.
    const own = name.length <= PREFIX_CHARS_MAX ? escaped(name) : `${escaped(name.slice(0, PREFIX_CHARS_MAX))}.${at}`
    calls.push(callSchema(operation, unnamedOperation, input && moved(input, `${own}.input.`, schemas)))
    if (output !== undefined) responses.push(moved(output, `${own}.output.`, schemas))
    await turn()
  }
  const info = isKeyless && terms.pay_per_call ? paymentInfo(manifest) : undefined
  const response = responses.length < calls.length ? {} : oneOf(responses, 'anyOf')
  const body = request?.schema ?? (calls.length === 0 ? { type: 'object' } : oneOf(calls, 'oneOf'))
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
          ...(info === undefined ? {} : { 'x-payment-info': info }),
          security: info === undefined ? [{ key: [] }] : [{ key: [] }, {}],
          parameters: [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } }],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: body } }
          },
          responses: {
            '2XX': {
              description: ANSWER,
              content: { 'application/json': { schema: response } }
            },
            ...(info === undefined ? {} : { '402': { description: PAYMENT_REQUIRED } }),
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

/**
 * `x-payment-info` of an operation, as crawlers of x402 and MPP read it: price and protocols, and the offers of
 * draft-payment-discovery-00 in atoms. The 402 of the call is authoritative. Undefined if calls need a key.
 */
function paymentInfo({ price, payout, currency }: Manifest) {
  if (price === 0n || payout === undefined) return undefined
  const charge = { method: 'evm', intent: 'charge', currency }
  const takesTransfers = price >= limits.EXACT_ATOMS_MIN
  return {
    price: { mode: 'fixed', currency: 'USD', amount: formatUsdc(price) },
    protocols: [{ x402: {} }, ...(takesTransfers ? [{ mpp: charge }] : [])],
    ...(takesTransfers ? { offers: [{ ...charge, amount: price.toString() }] } : {})
  }
}

/** An API without a description has one operation, which a call does not name. */
function callSchema(
  { name, description }: Operation,
  unnamed: string | undefined,
  own: JsonSchema = { type: 'object' }
): JsonSchema {
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

function oneOf(schemas: readonly JsonSchema[], keyword: 'oneOf' | 'anyOf'): JsonSchema {
  const [first = {}] = schemas
  return schemas.length <= 1 ? first : { [keyword]: schemas }
}

/** Prefix of schemas that operations share. */
const SHARED = 'types.'
/** Characters of an operation's name before the names of its schemas. */
const PREFIX_CHARS_MAX = 64

/** Names in `components` allow these characters only. */
const escaped = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9._-]/g, (character) => `_${character.charCodeAt(0).toString(16)}_`)

/** Moves the schema’s definitions into the document: `#/$defs/…` would refer to the document’s root. */
function moved(schema: JsonSchema, prefix: string, schemas: Record<string, unknown>): JsonSchema {
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
