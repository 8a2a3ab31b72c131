import { callPath } from './call-path.ts'
import { catalogue } from './catalogue.ts'
import { growth } from './growth.ts'
import { graphql } from './graphql.ts'
import { paidCalls } from './paid-calls.ts'
import { rest } from './rest.ts'
import { soap } from './soap.ts'
import type { Suite } from './suite.ts'

/** What `npm run bench` runs when nobody says. */
export const DEFAULT_SUITES = ['path', 'pay']

/** Name on the command line → suite. */
export const SUITES: ReadonlyMap<string, Suite> = new Map(
  [callPath, paidCalls, soap, graphql, rest, catalogue, growth].map((suite) => [suite.name, suite])
)
