import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { limits, SoukError } from '../../lib/index.ts'
import { LISTING_SORTS } from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES } from '../../protocols/protocol-descriptors.ts'
import type { InputSchema } from './tool-schema.ts'

const usdc = z.string().regex(/^\d+(\.\d{1,6})?$/, 'give a decimal number of USDC, like 0.01')
const api = z.string().describe('a name, or name@provider as souk_search gives it')

/** What the tools of the marketplace itself take. One table: lists, checks and docs follow it. */
export const MARKET_TOOLS = {
  souk_search: {
    about: 'Finds APIs on the marketplace, with how well each has answered this node. Free of charge.',
    readOnly: true,
    takes: z.object({
      query: z
        .string()
        .max(limits.SEARCH_CHARS_MAX)
        .optional()
        .describe('words, all of which appear in name, description or tags'),
      protocol: z.enum(PROTOCOL_NAMES).optional(),
      tag: z.string().optional(),
      max_price: usdc.optional().describe('most expensive call wanted, in USDC'),
      sort: z.enum(LISTING_SORTS).optional(),
      limit: z.int().min(1).max(limits.PAGE_MAX).optional(),
      cursor: z.string().optional().describe('next_cursor of the page before')
    })
  },
  souk_show: {
    about:
      'Shows an API: its price, its plans, and each operation with the JSON Schemas of what it takes and gives. Free of charge.',
    readOnly: true,
    takes: z.object({ api, operation: z.string().optional().describe('this operation alone') })
  },
  souk_call: {
    about:
      'Calls any API of the marketplace, and pays its price where it succeeds. For APIs that have tools of their own, use those.',
    readOnly: false,
    takes: z.object({
      api,
      max_price: usdc.describe('refuse to pay more for this call, in USDC'),
      operation: z.string().optional().describe('as souk_show names it; not for GraphQL'),
      arguments: z
        .record(z.string(), z.json())
        .optional()
        .describe('what the operation takes; for GraphQL {"query", "variables"}'),
      idempotency_key: z.string().optional().describe('a repeat with the same key is the same call'),
      timeout_ms: z.int().min(limits.DEADLINE_MS_MIN).max(limits.UPSTREAM_TIMEOUT_MS_MAX).optional()
    })
  },
  souk_subscribe: {
    about:
      'Subscribes to a plan of an API, as souk_show lists them, and pays its fee where it has one. Calls then go by the plan. Costs money.',
    readOnly: false,
    takes: z.object({
      api,
      plan: z.string(),
      max_price: usdc.describe('no call of the subscription ever costs more, in USDC; 0 where none may cost anything'),
      max_fee: usdc.optional().describe('no period ever costs more; default: the fee of now'),
      daily_cap: usdc.optional().describe('in one day (UTC), fees included'),
      trial: z.boolean().optional().describe('begin with the trial, where there is one; default true')
    })
  },
  souk_subscriptions: {
    about: 'Lists the subscriptions there are, and how much of each is used. Free of charge.',
    readOnly: true,
    takes: z.object({})
  },
  souk_change_subscription: {
    about:
      'Changes a subscription: cancel (when its period ends), pause, resume, or change to another plan or other limits. A dearer plan is paid at once.',
    readOnly: false,
    takes: z.object({
      subscription: z.string().describe('its id, as souk_subscriptions lists it'),
      action: z.enum(['cancel', 'pause', 'resume', 'change']),
      plan: z.string().optional(),
      max_price: usdc.optional(),
      max_fee: usdc.optional()
    })
  },
  souk_balance: {
    about: 'Tells what may still be spent: the dearest call, what is left of today, the balance. Free of charge.',
    readOnly: true,
    takes: z.object({})
  }
} as const

export type MarketTool = keyof typeof MARKET_TOOLS
export type MarketInput<T extends MarketTool> = z.output<(typeof MARKET_TOOLS)[T]['takes']>

export function isMarketTool(name: string): name is MarketTool {
  return Object.hasOwn(MARKET_TOOLS, name)
}

export function marketTools(): Tool[] {
  return Object.entries(MARKET_TOOLS).map(([name, { about, readOnly, takes }]) => {
    const { $schema: _, ...schema } = z.toJSONSchema(takes, { io: 'input' })
    return {
      name,
      description: about,
      inputSchema: schema as unknown as InputSchema,
      annotations: { readOnlyHint: readOnly, openWorldHint: true }
    }
  })
}

/** @throws SoukError `invalid_request` */
export function marketInput<T extends MarketTool>(tool: T, given: unknown): MarketInput<T> {
  const result = MARKET_TOOLS[tool].takes.safeParse(given)
  if (result.success) return result.data as MarketInput<T>
  throw new SoukError('invalid_request', result.error.issues.map((issue) => wrong(issue, given)).join('; '))
}

/** In words for whoever can read the schema: zod's own speak of `undefined` where something was left out. */
function wrong({ path, message }: z.core.$ZodIssue, given: unknown): string {
  const name = path.join('.')
  const [first] = path
  const isMissing =
    path.length === 1 && typeof given === 'object' && given !== null && !Object.hasOwn(given, first ?? '')
  if (isMissing) return `${name} is missing`
  return name === '' ? message : `${name}: ${message}`
}
