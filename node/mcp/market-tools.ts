import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { limits, SoukError } from '../../lib/index.ts'
import { LISTING_SORTS } from '../../lib/interface/index.ts'
import { PROTOCOL_NAMES } from '../../protocols/protocol-descriptors.ts'
import type { InputSchema } from './tool-schema.ts'
import { invalidText } from '../../protocols/invalid-text.ts'

const USDC = 'give a decimal number of USDC as a text, like "0.01"'
const usdc = z.string(USDC).regex(/^\d+(\.\d{1,6})?$/, USDC)
const api = z.string().describe('a name, or name@provider as souk_search gives it')

/**
 * The marketplace’s own tools and their inputs. Tool lists, validation and docs all use this table. Unknown arguments are rejected,
 * because a limit with a wrong name would not hold. Tools without arguments ignore them, because some agents send one to every tool.
 */
export const MARKET_TOOLS = {
  souk_search: {
    about:
      'Searches the marketplace for APIs and operations, and shows how reliable each API was for this node. Free of charge.',
    readOnly: true,
    takes: z.strictObject({
      query: z
        .string()
        .max(limits.SEARCH_CHARS_MAX)
        .optional()
        .describe(
          'words, all of which appear in name, description or tags, or in one operation, like "create invoice"'
        ),
      protocol: z.enum(PROTOCOL_NAMES).optional(),
      tag: z.string().optional(),
      max_price: usdc.optional().describe('maximum price of a call, in USDC'),
      sort: z.enum(LISTING_SORTS).optional(),
      limit: z.int().min(1).max(limits.PAGE_MAX).optional(),
      cursor: z.string().optional().describe('next_cursor of the previous page')
    })
  },
  souk_show: {
    about:
      'Shows an API: its price, its plans, and each operation with its input and output JSON Schemas. Free of charge.',
    readOnly: true,
    takes: z.strictObject({ api, operation: z.string().optional().describe('show only this operation') })
  },
  souk_call: {
    about:
      'Calls any API of the marketplace and pays its price if the call succeeds. For APIs with their own tools, use those tools.',
    readOnly: false,
    takes: z.strictObject({
      api,
      max_price: usdc.describe('maximum price of this call, in USDC'),
      operation: z.string().optional().describe('as souk_show names it; not for GraphQL'),
      // No `z.record`: model vendors reject `propertyNames` and references.
      arguments: z.looseObject({}).optional().describe('input of the operation; for GraphQL {"query", "variables"}'),
      idempotency_key: z
        .string()
        .optional()
        .describe('a repeat with the same key returns the same response and costs nothing'),
      timeout_ms: z.int().min(limits.DEADLINE_MS_MIN).max(limits.UPSTREAM_TIMEOUT_MS_MAX).optional()
    })
  },
  souk_subscribe: {
    about:
      'Subscribes to a plan of an API, as listed by souk_show, and pays its fee. Later calls use the plan. Costs money.',
    readOnly: false,
    takes: z.strictObject({
      api,
      plan: z.string(),
      max_price: usdc.describe('maximum price of a call in the subscription, in USDC; 0 allows free calls only'),
      max_fee: usdc.optional().describe('maximum fee of a period; default: the current fee'),
      daily_cap: usdc.optional().describe('maximum cost in one day (UTC), including fees'),
      trial: z.boolean().optional().describe('start with the trial, if the plan has one; default true')
    })
  },
  souk_subscriptions: {
    about: 'Lists the subscriptions and their usage. Free of charge.',
    readOnly: true,
    takes: z.object({})
  },
  souk_change_subscription: {
    about:
      'Changes a subscription: cancel (at the end of its period), pause, resume, or change its plan or limits. A dearer plan is paid at once.',
    readOnly: false,
    takes: z.strictObject({
      subscription: z.string().describe('id of the subscription, from souk_subscriptions'),
      action: z.enum(['cancel', 'pause', 'resume', 'change']),
      plan: z.string().optional(),
      max_price: usdc.optional(),
      max_fee: usdc.optional()
    })
  },
  souk_balance: {
    about:
      'Shows what may still be spent: the maximum price of a call, the rest of today’s cap, and the balance. Free of charge.',
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
  const result = MARKET_TOOLS[tool].takes.safeParse(given, { error: invalidText })
  if (result.success) return result.data as MarketInput<T>
  const { issues } = result.error
  const wrongs = issues.map((issue) => wrong(issue, given))
  const names = Object.keys(MARKET_TOOLS[tool].takes.shape).join(', ')
  if (issues.some(({ code }) => code === 'unrecognized_keys')) wrongs.push(`${tool} takes ${names}`)
  throw new SoukError('invalid_request', wrongs.join('; '))
}

/** Words the problem for a reader of the schema: zod says `undefined` for a missing member. */
function wrong({ path, message }: z.core.$ZodIssue, given: unknown): string {
  const name = path.join('.')
  const [first] = path
  const isMissing =
    path.length === 1 && typeof given === 'object' && given !== null && !Object.hasOwn(given, first ?? '')
  if (isMissing) return `${name} is missing`
  return name === '' ? message : `${name}: ${message}`
}
