import { SoukError } from '../../lib/base/errors.ts'
import {
  GRAPHQL_ALIASES_MAX,
  GRAPHQL_DEPTH_MAX,
  GRAPHQL_TOKENS_CEILING,
  GRAPHQL_TOKENS_MAX
} from '../../lib/base/limits/graphql.ts'
import { type Atoms, parseUsdc } from '../../lib/base/money.ts'
import type { GraphqlTerms } from '../../lib/interface/adapter.ts'

/** The limits of one document. */
export interface DocumentLimits {
  readonly tokensMax: number
  readonly depthMax: number
  readonly aliasesMax: number
  /** In cost units; undefined means unlimited. */
  readonly costMax: number | undefined
}

/** The price of a call by the cost units of its operation. */
export interface UnitPricing {
  readonly base: Atoms
  readonly unit: Atoms
}

/** @throws SoukError `invalid_request` */
export function limitsIn(terms: GraphqlTerms): DocumentLimits {
  const { tokensMax, depthMax, aliasesMax, costMax } = terms
  return {
    tokensMax: checked('tokens', tokensMax, GRAPHQL_TOKENS_MAX, GRAPHQL_TOKENS_CEILING),
    depthMax: checked('levels', depthMax, GRAPHQL_DEPTH_MAX, GRAPHQL_DEPTH_MAX),
    aliasesMax: checked('aliases', aliasesMax, GRAPHQL_ALIASES_MAX, GRAPHQL_TOKENS_CEILING),
    costMax: costMax === undefined ? undefined : checked('units of cost', costMax, 0, Number.MAX_SAFE_INTEGER)
  }
}

/** @throws SoukError `invalid_request` */
export function pricingIn({ unitPrice, basePrice, costs = {} }: GraphqlTerms): UnitPricing | undefined {
  for (const [name, cost] of Object.entries(costs)) {
    if (!/^\w+\.\w+$/.test(name)) throw refuse(`A cost needs a name like "Type.field", not "${name.slice(0, 200)}".`)
    if (!Number.isInteger(cost) || cost < 0) throw refuse('The cost of a field has to be a whole number of units.')
  }
  if (unitPrice !== undefined) return { base: parseUsdc(basePrice ?? '0'), unit: parseUsdc(unitPrice) }
  if (basePrice !== undefined) throw refuse('A base price needs a price per cost unit as well.')
  return undefined
}

function checked(what: string, asked: number | undefined, usual: number, most: number): number {
  const value = asked ?? usual
  if (Number.isInteger(value) && value >= 0 && value <= most) return value
  throw refuse(`A document can be allowed up to ${most} ${what}.`)
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
