import { systemClock, systemRandom } from '../../../lib/index.ts'
import { createIngress } from '../../../node/ingress/ingress.ts'
import { anything } from '../anything.ts'
import { anchor, code, NOTICE, table } from '../markdown.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly string[]
  readonly const?: string | number
  readonly format?: string
  readonly pattern?: string
  readonly description?: string
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Operation {
  readonly summary?: string
  readonly security?: unknown
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Section titles with patterns of their paths. The first match wins. */
const SECTIONS: ReadonlyArray<readonly [title: string, paths: RegExp, about: string]> = [
  [
    'Calls',
    /^\/api\//,
    'The response comes from the API. `{scope}` selects the provider ([names](../how-to/find-an-api.md#names)). `/v1/apis/{id}/openapi.json` describes ' +
      'the requests that the API accepts.'
  ],
  ['Agents', /^\/mcp/, 'See [APIs as tools of agents](../how-to/agents.md).'],
  ['Finding APIs', /^\/($|v1\/apis|\.well-known|discovery)/, 'These routes need no key.'],
  [
    'Accounts',
    /^\/v1\/(account|receipts)/,
    'Available if the node runs with `souk up --accounts`. See [hosted accounts](../explanation/payments.md#hosted-accounts).'
  ],
  ['Keys', /^\/v1\/keys/, 'These routes need a key that manages the account. See [consumer keys](../how-to/keys.md).'],
  [
    'Subscriptions',
    /^\/v1\/subscriptions/,
    'The subscriptions of an account. See [plans and subscriptions](../explanation/plans.md).'
  ],
  ['The ingress itself', /./, '']
]

export async function ingressPage(): Promise<string> {
  const { paths, components } = await document()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )
  const sections = SECTIONS.map(([title, , about]) => {
    const below = operations.filter(({ path }) => SECTIONS.find(([, fits]) => fits.test(path))?.[0] === title)
    return `## ${title}\n\n${about === '' ? '' : `${about}\n\n`}${together(below).map(operationText).join('\n\n')}`
  })
  return `${NOTICE}

# Ingress API

The HTTP API that each node serves to consumers, on port 8402 by default. \`/openapi.json\` is its OpenAPI 3.1 document.
Bodies are JSON, amounts decimal strings in USDC, times RFC 3339. Errors are problem documents with [a code](errors.md).

## Headers of a request

${table(
  ['Header', ''],
  [
    [
      '`X-Consumer-Key`',
      'The key. A call of a priced API without a key gets a 402 with the x402 payment requirements.'
    ],
    ['`Content-Type`', '`application/json` for a call with JSON. Compressed bodies (`Content-Encoding`) get 415.'],
    ['`Accept`', '`text/event-stream` requests a stream of events.'],
    [
      '`Idempotency-Key`',
      'Requests with the same idempotency key are one call: [retries](../how-to/limits-and-retries.md#retries-idempotency-key).'
    ],
    ['`Souk-Max-Price`', 'The maximum price of this call, in USDC. If the key’s maximum is lower, that applies.'],
    ['`Souk-Timeout-Ms`', 'The time limit of the whole call.'],
    ['`PAYMENT-SIGNATURE`', 'An x402 payment, instead of a key.'],
    ['`traceparent`', 'W3C Trace Context, forwarded to the API.']
  ]
)}

## Headers of a response

${table(
  ['Header', ''],
  [
    ['`X-Request-Id`', 'Identifies the call in logs, receipts and errors.'],
    ['`Souk-Charged`, `Souk-Price`', 'The charge of the call, and its maximum price.'],
    ['`Souk-Price-Per-Event`', 'The price of each event of a stream, if events are priced.'],
    ['`Souk-Owner`', 'Peer id of the node that served the call.'],
    [
      '`Souk-Receipt`',
      'The owner’s signed receipt: a `souk.Receipt` of [souk-pay.proto](souk-pay.proto) in base64url.'
    ],
    [
      '`Souk-Error-Source`',
      'Of an error without a problem document: `upstream` if it comes from the API itself, `owner` if the provider’s node refused a GraphQL request.'
    ],
    ['`Server-Timing`', 'The duration of each part of the call; see [metrics](metrics.md#one-call).'],
    [
      '`RateLimit`, `RateLimit-Policy`, `Retry-After`',
      'The rate limit status of the caller: [limits](../how-to/limits-and-retries.md#what-callers-are-told).'
    ],
    ['`Idempotency-Replayed`', '`true` for the stored response of an earlier call with the same key.'],
    ['`Deprecation`, `Sunset`, `Link`', 'The API’s deprecation, its end date, and its successor (RFC 9745, RFC 8594).'],
    ['`PAYMENT-REQUIRED`, `PAYMENT-RESPONSE`', 'Headers of x402.']
  ]
)}

${sections.join('\n\n')}

## Types

A member with \`?\` may be absent.

${Object.entries(components.schemas)
  .map(([name, schema]) => `### ${name}\n\n${members(schema)}`)
  .join('\n\n')}
`
}

/** The OpenAPI document of an ingress with all features. Only its document is requested, so its dependencies are placeholders. */
async function document(): Promise<Document> {
  const ingress = createIngress({
    souk: anything(),
    keys: anything(),
    spending: anything(),
    accounts: anything(),
    accountMoney: anything(),
    subscriptions: anything(),
    clock: systemClock,
    random: systemRandom,
    log: { warn: () => {}, error: () => {} },
    options: { host: '127.0.0.1', port: 0, exact: false, opensAccounts: true }
  })
  const { url } = await ingress.listen()
  try {
    return (await (await fetch(`${url}/openapi.json`)).json()) as Document
  } finally {
    await ingress.close()
  }
}

interface Route {
  readonly path: string
  /** The methods of the path whose operations are described alike. */
  readonly methods: readonly string[]
  readonly operation: Operation
}

function together(operations: ReadonlyArray<{ path: string; method: string; operation: Operation }>): Route[] {
  const routes = new Map<string, Route>()
  for (const { path, method, operation } of operations) {
    const said = `${path} ${factsOf(operation)}`
    const methods = routes.get(said)?.methods ?? []
    routes.set(said, { path, methods: [...methods, method], operation })
  }
  return [...routes.values()]
}

function operationText({ path, methods, operation }: Route): string {
  return `**\`${methods.join(', ')} ${path}\`**\\
${factsOf(operation)}`
}

function factsOf({ summary = '', security, parameters = [], requestBody, responses }: Operation): string {
  const named = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => code(name))
  const answers = Object.entries(responses).flatMap(([status, { content }]) => {
    const [type, schema] = contentOf(content)
    return status.startsWith('2') && schema !== undefined ? [`${status}, ${typeOf(type, schema)}`] : []
  })
  const facts = [
    summary,
    security === undefined ? '' : 'Needs a key.',
    named('query').length === 0 ? '' : `Query: ${named('query').join(', ')}.`,
    named('header').length === 0 ? '' : `Headers: ${named('header').join(', ')}.`,
    requestBody === undefined ? '' : `Body: ${schemaText(contentOf(requestBody.content)[1] ?? {})}.`,
    answers.length === 0 ? '' : `Response: ${answers.join('; ')}.`
  ]
  return facts.filter((fact) => fact !== '').join(' ')
}

function contentOf(content: Content | undefined): readonly [type: string, schema: Schema | undefined] {
  const [entry] = Object.entries(content ?? {})
  return [entry?.[0] ?? '', entry?.[1].schema]
}

function typeOf(type: string, schema: Schema): string {
  return type === 'application/json' ? schemaText(schema) : code(type)
}

function schemaText(schema: Schema): string {
  const { $ref, type, properties, items, anyOf, format, pattern } = schema
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? ''
    return `[${name}](#${anchor(name)})`
  }
  if (anyOf !== undefined) return anyOf.map(schemaText).join(' or ')
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ')
  if (schema.const !== undefined) return code(String(schema.const))
  if (items !== undefined) return `a list of ${schemaText(items)}`
  if (properties !== undefined) return memberNames(schema)
  const names = [type ?? 'any JSON'].flat().map((name) => (name === 'object' ? 'an object' : name))
  if (pattern?.includes('{1,6}') === true) return 'USDC'
  if (format === 'date-time') return ['time', ...names.filter((name) => name !== 'string')].join(' or ')
  return names.join(' or ')
}

/** Describes an object by its members, with links to named types. */
function memberNames({ properties = {}, required = [] }: Schema): string {
  const names = Object.entries(properties).map(([name, member]) => {
    const inner = schemaText(member)
    const said = inner.includes('](#') ? ` (${inner})` : ''
    return `${code(name)}${required.includes(name) || required.length === 0 ? '' : '?'}${said}`
  })
  return `{ ${names.join(', ')} }`
}

function members({ properties = {}, required = [] }: Schema): string {
  return table(
    ['Member', 'Type'],
    Object.entries(properties).map(([name, member]) => [
      code(`${name}${required.includes(name) ? '' : '?'}`),
      schemaText(member)
    ])
  )
}
