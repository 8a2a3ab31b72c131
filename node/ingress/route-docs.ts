type Schema = Readonly<Record<string, unknown>>

/** What is said of a route of the ingress; its path's parameters and its problems are known without it. */
export interface RouteDoc {
  readonly summary?: string
  readonly query?: readonly string[]
  readonly headers?: readonly string[]
  /** Of the JSON that is sent. */
  readonly body?: Schema
  readonly answer?: Schema
  /** Of a good answer. Default 200. */
  readonly status?: number
  /** Default `application/json`. */
  readonly type?: string
  /** It takes a key in `X-Consumer-Key`. */
  readonly needsKey?: boolean
}

const text = { type: 'string' }
const maybe = { type: ['string', 'null'] }
const usdc = { type: 'string', pattern: String.raw`^-?\d+(\.\d{1,6})?$`, description: 'Decimal USDC.' }
const moment = { type: 'string', format: 'date-time' }
const maybeMoment = { type: ['string', 'null'], format: 'date-time' }
const flag = { type: 'boolean' }
const count = { type: 'integer' }
const maybeCount = { type: ['integer', 'null'] }
const texts = { type: 'array', items: text }
const share = { type: 'number', minimum: 0, maximum: 1 }
const maybeShare = { ...share, type: ['number', 'null'] }
const decimal = { type: 'number' }
const maybeNumber = { type: ['number', 'null'] }
const any = { type: 'object' }

const of = (properties: Schema, ...required: string[]): Schema => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required })
})
const see = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
const page = (items: Schema): Schema =>
  of({ data: { type: 'array', items }, next_cursor: maybe }, 'data', 'next_cursor')
const list = (items: Schema): Schema => ({ type: 'array', items })
const orNull = (schema: Schema): Schema => ({ oneOf: [schema, { type: 'null' }] })
const also = (schema: Schema, properties: Schema): Schema => ({ allOf: [schema, of(properties)] })

export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Problem: of(
    {
      type: { type: 'string', format: 'uri' },
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: text,
      request_id: text,
      charged: { type: ['boolean', 'null'] },
      amount_charged: maybe,
      retryable: flag,
      source: { enum: ['ingress', 'owner', 'upstream'] }
    },
    'type',
    'title',
    'status',
    'code'
  ),
  Subscription: of({
    id: text,
    api: text,
    plan: see('Plan'),
    state: text,
    max_price: usdc,
    max_fee: usdc,
    daily_cap: maybe,
    created_at: moment,
    period_start: moment,
    period_end: moment,
    next_plan: maybe,
    quota: { type: ['object', 'null'] }
  }),
  Plan: of({
    id: text,
    name: text,
    description: text,
    fee: usdc,
    period: text,
    trial_days: count,
    included: maybeCount,
    overage: list(of({ up_to: maybeCount, price: usdc })),
    rate_limit: orNull(of({ calls: count, per_ms: count, burst: count })),
    in_flight_max: maybeCount,
    closed: flag
  }),
  Api: of(
    {
      id: text,
      name: text,
      provider: text,
      protocol: text,
      description: text,
      tags: texts,
      price: usdc,
      price_per_event: usdc,
      events_included: count,
      currency: { const: 'USDC' },
      state: text,
      revision: count,
      idempotent: flag,
      rate_limit: of({ calls: count, per_ms: count, burst: count }),
      issued_at: moment,
      expires_at: moment,
      operations: { type: 'array' },
      sdl: text,
      pay_per_call: flag,
      cheapest_plan: orNull(of({ id: text, fee: usdc, period: text })),
      major: count,
      plans: list(see('Plan')),
      deprecation: orNull(of({ at: moment, sunset_at: moment, successor: maybe, link: maybe })),
      known_since: maybeMoment,
      quality: of({ score: share, calls: decimal, success_rate: maybeShare, p50_ms: maybeNumber, p95_ms: maybeNumber })
    },
    'id',
    'name',
    'price'
  ),
  Account: of({
    id: text,
    label: text,
    balance: usdc,
    set_aside: usdc,
    spent: usdc,
    currency: { const: 'USDC' },
    funding: maybe,
    created_at: moment,
    key_id: text,
    key_hint: text,
    max_price: usdc,
    daily_cap: usdc,
    manages: flag
  }),
  Key: of(
    {
      id: text,
      lineage: text,
      replaces: maybe,
      successor: maybe,
      label: text,
      hint: text,
      state: { enum: ['active', 'rotating', 'disabled', 'expired', 'revoked'] },
      apis: { type: ['array', 'null'], items: text },
      manages: flag,
      max_price: usdc,
      daily_cap: usdc,
      created_at: moment,
      expires_at: maybeMoment,
      retires_at: maybeMoment,
      disabled_at: maybeMoment,
      revoked_at: maybeMoment,
      last_used_at: maybeMoment
    },
    'id',
    'state'
  ),
  Entry: of({ kind: text, reference: text, at: moment, amount: usdc }),
  Receipt: of({
    request_id: text,
    at: moment,
    charged: usdc,
    api: maybe,
    owner: maybe,
    status: { type: ['integer', 'null'] },
    signature: maybe,
    proof: maybe
  }),
  Withdrawal: of({
    id: text,
    state: { enum: ['pending', 'sent', 'done', 'failed'] },
    amount: usdc,
    fee: usdc,
    receives: usdc,
    to: text,
    at: moment,
    transaction: maybe
  })
}

const SHOWN_ONCE = { key: { type: 'string', description: 'Shown this once.' } }
const PAGED = ['limit', 'cursor']
const CALL_HEADERS = ['Idempotency-Key', 'Souk-Max-Price', 'Souk-Timeout-Ms', 'PAYMENT-SIGNATURE']
const forward: RouteDoc = {
  summary: 'Calls an API by a method of its own, where its listing passes them on.',
  headers: CALL_HEADERS,
  needsKey: true
}
const NEW_KEY = {
  label: text,
  apis: texts,
  max_price: usdc,
  daily_cap: usdc,
  expires_at: moment,
  manages: flag
}

const other = (path: string, ...methods: string[]): Record<string, RouteDoc> =>
  Object.fromEntries(methods.map((method) => [`${method} ${path}`, forward]))

/** What whoever subscribes sets himself. */
const OWN_LIMITS = { max_price: usdc, max_fee: usdc, daily_cap: maybe }
const CHANGED = of({ subscription: see('Subscription'), charged: usdc, request_id: maybe })

/** By method and path. A route that is not here is told of by its path alone. */
export const ROUTE_DOCS: Readonly<Record<string, RouteDoc>> = {
  'GET /': {
    summary: 'APIs, prices and how to call them, for people.',
    query: ['q', 'protocol', 'cursor'],
    answer: text,
    type: 'text/html'
  },
  'GET /livez': { summary: 'The process answers.', answer: of({ status: text }) },
  'GET /readyz': {
    summary:
      'It takes calls. 503 with the reason where it does not: it stops, its database is away, or its disk is full.',
    answer: of({ status: text })
  },
  'GET /openapi.json': { summary: 'This document.', answer: any, type: 'application/openapi+json' },
  'GET /.well-known/api-catalog': {
    summary: 'Every API known here, as links (RFC 9727).',
    query: ['cursor'],
    answer: any,
    type: 'application/linkset+json'
  },
  'GET /discovery/resources': {
    summary: 'The APIs that can be paid for by x402, and how, as clients of its bazaar ask.',
    query: ['type', 'scheme', 'network', 'payTo', 'extensions', 'limit', 'offset'],
    answer: of({ x402Version: { const: 2 }, items: { type: 'array', items: any }, pagination: any })
  },
  'GET /v1/apis': {
    summary: 'Searches the APIs known here.',
    query: ['q', 'protocol', 'tag', 'max_price', 'min_quality', 'sort', ...PAGED],
    answer: page(see('Api'))
  },
  'GET /v1/apis/{id}': {
    summary: 'One API with the schemas of its operations, by name@provider or bare name.',
    answer: see('Api')
  },
  'GET /v1/apis/{id}/openapi.json': {
    summary: 'One API as OpenAPI 3.1.',
    answer: any,
    type: 'application/openapi+json'
  },
  'GET /v1/apis/{id}/schema.graphql': {
    summary: 'The schema of a GraphQL API.',
    answer: text,
    type: 'application/graphql'
  },
  'POST /v1/account': {
    summary: 'Opens a prepaid account, with the key that manages it.',
    body: of({ label: text }),
    answer: also(see('Account'), SHOWN_ONCE),
    status: 201
  },
  'GET /v1/account': { summary: 'The account of a key.', needsKey: true, answer: see('Account') },
  'GET /v1/account/entries': { summary: 'Its statement.', needsKey: true, query: PAGED, answer: page(see('Entry')) },
  'POST /v1/account/deposits': {
    summary: 'Pays in by x402: 402 says how, the same with the payment does it.',
    needsKey: true,
    headers: ['PAYMENT-SIGNATURE'],
    body: of({ amount: usdc }, 'amount'),
    answer: of({ amount: usdc, balance: usdc })
  },
  'POST /v1/account/withdrawals': {
    summary:
      'Pays back to where it came from. One a day is free; a fee is deducted up to `max_fee`. `dry_run` only shows the fee.',
    needsKey: true,
    headers: ['Idempotency-Key'],
    body: of({ amount: usdc, max_fee: usdc, dry_run: flag }, 'amount'),
    answer: see('Withdrawal'),
    status: 202
  },
  'GET /v1/account/withdrawals/{id}': {
    summary: 'What became of a withdrawal.',
    needsKey: true,
    answer: see('Withdrawal')
  },
  'GET /v1/keys': { summary: 'The account’s keys.', needsKey: true, answer: page(see('Key')) },
  'POST /v1/keys': {
    summary: 'Makes a key, which only calls unless it is to manage the account.',
    needsKey: true,
    body: of(NEW_KEY),
    answer: also(see('Key'), SHOWN_ONCE),
    status: 201
  },
  'GET /v1/keys/{id}': { summary: 'One of them.', needsKey: true, answer: see('Key') },
  'DELETE /v1/keys/{id}': { summary: 'Revokes it.', needsKey: true, answer: see('Key') },
  'POST /v1/keys/{id}/rotate': {
    summary: 'Makes a key that takes its place; it works on for a while.',
    needsKey: true,
    body: of({ overlap_seconds: { type: 'integer', minimum: 0 }, expires_at: moment }),
    answer: also(see('Key'), SHOWN_ONCE),
    status: 201
  },
  'POST /v1/keys/{id}/disable': {
    summary: 'Refuses its calls until it is enabled.',
    needsKey: true,
    answer: see('Key')
  },
  'POST /v1/keys/{id}/enable': { summary: 'Lets it call again.', needsKey: true, answer: see('Key') },
  'GET /v1/receipts': {
    summary: 'What the account was charged for, with what the owners signed.',
    needsKey: true,
    query: PAGED,
    answer: page(see('Receipt'))
  },
  'GET /v1/subscriptions': {
    summary: 'What the account has subscribed to.',
    needsKey: true,
    answer: page(see('Subscription'))
  },
  'POST /v1/subscriptions': {
    summary: 'Subscribes to a plan of an API; its fee is taken from the balance. Calls go by the plan from then on.',
    needsKey: true,
    body: of({ api: text, plan: text, ...OWN_LIMITS, trial: flag }, 'api', 'plan', 'max_price'),
    answer: CHANGED,
    status: 201
  },
  'GET /v1/subscriptions/{id}': { summary: 'One of them.', needsKey: true, answer: see('Subscription') },
  'PATCH /v1/subscriptions/{id}': {
    summary: 'To another plan, or other limits. A dearer plan begins at once, a cheaper one when the period ends.',
    needsKey: true,
    body: of({ plan: text, ...OWN_LIMITS }),
    answer: CHANGED
  },
  'DELETE /v1/subscriptions/{id}': {
    summary: 'Ends it with its period, or at once.',
    needsKey: true,
    query: ['now'],
    answer: CHANGED
  },
  'POST /v1/subscriptions/{id}/pause': {
    summary: 'No calls and no fees until it is resumed.',
    needsKey: true,
    answer: CHANGED
  },
  'POST /v1/subscriptions/{id}/resume': {
    summary: 'Takes back a pause, or a cancel whose time has not come.',
    needsKey: true,
    answer: CHANGED
  },
  'POST /v1/subscriptions/{id}/renew': {
    summary: 'Pays the next period, where the last one is over. Calls do so by themselves.',
    needsKey: true,
    answer: CHANGED
  },
  'POST /mcp': {
    summary: 'The Model Context Protocol, for agents (JSON-RPC).',
    needsKey: true,
    query: ['api'],
    body: any,
    answer: any
  },
  'POST /api/{scope}/api/{name}': {
    summary:
      'Calls an API. Scope is `demo`, or whose API is meant: a provider’s id, an alias of this node, or a domain.',
    needsKey: true,
    headers: CALL_HEADERS,
    body: any,
    answer: {}
  },
  ...other('/api/{scope}/api/{name}', 'GET', 'PUT', 'PATCH', 'DELETE'),
  ...other('/api/{scope}/api/{name}/{path}', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE')
}
