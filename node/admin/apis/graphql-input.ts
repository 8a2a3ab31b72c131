import { z } from 'zod'
import type { GraphqlTerms } from '../../../lib/interface/index.ts'
import { amount } from '../../http/schemas.ts'
import { present } from '../../present.ts'

const count = z.int().min(0)

/** Member `graphql` of a registration: limits and prices of GraphQL queries. */
export const graphqlSchema = z.strictObject({
  subscriptions: z
    .string()
    .refine(
      (text) => /^(?:https?|wss?):$/.test(URL.parse(text)?.protocol ?? ''),
      'give an http:, https:, ws: or wss: URL'
    )
    .optional(),
  schema: z.string().optional(),
  events_max: z.int().min(1).optional(),
  hidden: z.array(z.string()).optional(),
  introspection: z.boolean().optional(),
  tokens_max: count.optional(),
  depth_max: count.optional(),
  aliases_max: count.optional(),
  cost_max: count.optional(),
  costs: z.record(z.string(), count).optional(),
  unit_price: amount.optional(),
  base_price: amount.optional(),
  documents: z.record(z.string(), z.string()).optional(),
  documents_only: z.boolean().optional()
})

export function graphqlTermsOf(input: z.output<typeof graphqlSchema>): GraphqlTerms {
  return present({
    subscriptions: input.subscriptions,
    schema: input.schema,
    eventsMax: input.events_max,
    hidden: input.hidden,
    introspection: input.introspection,
    tokensMax: input.tokens_max,
    depthMax: input.depth_max,
    aliasesMax: input.aliases_max,
    costMax: input.cost_max,
    costs: input.costs,
    unitPrice: input.unit_price,
    basePrice: input.base_price,
    documents: input.documents,
    documentsOnly: input.documents_only
  })
}
