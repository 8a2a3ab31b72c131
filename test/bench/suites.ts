import { callPath } from './call-path.ts'
import { catalogue } from './catalogue.ts'
import { growth } from './growth.ts'
import { graphql } from './graphql.ts'
import { links } from './links.ts'
import { mcp } from './mcp.ts'
import { paidCalls } from './paid-calls.ts'
import { reach } from './reach.ts'
import { rest } from './rest.ts'
import { soap } from './soap.ts'
import type { Suite } from './suite.ts'
import { walk } from './walk.ts'

/** The suites of `npm run bench` without arguments. */
export const DEFAULT_SUITES = ['path', 'pay', 'graphql']

/** Suites by command line name. */
export const SUITES: ReadonlyMap<string, Suite> = new Map(
  [callPath, paidCalls, soap, graphql, rest, catalogue, growth, reach, links, mcp, walk].map((suite) => [
    suite.name,
    suite
  ])
)
