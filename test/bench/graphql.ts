import { oneHopSuite } from './one-hop.ts'
import type { Suite } from './suite.ts'

const FIRST = 20
const ANSWER = JSON.stringify({
  data: { posts: Array.from({ length: FIRST }, (_, id) => ({ id, title: 'On notes and machines' })) }
})

/**
 * A query checked against the schema. GraphQL gateways such as Hive Gateway and GraphQL Mesh need graphql 16, so they cannot be
 * installed beside Souk's graphql 17.
 */
export const graphql: Suite = oneHopSuite({
  name: 'graphql',
  role: new URL('./roles/graphql-upstream.ts', import.meta.url),
  api: { name: 'bench', price: '0.001', protocol: 'GraphQL' },
  body: JSON.stringify({
    query: 'query Posts($first: Int) { posts(first: $first) { id title } }',
    variables: { first: FIRST }
  }),
  answer: ANSWER,
  note: `One query with variables, ${ANSWER.length} bytes of data; graphql-http executes it.`
})
