import { oneHopSuite } from './one-hop.ts'
import type { Suite } from './suite.ts'

const FIRST = 20
const ANSWER = JSON.stringify({
  data: { posts: Array.from({ length: FIRST }, (_, id) => ({ id, title: 'On notes and machines' })) }
})

const HIVE_VERSION = '2.12.1'

/** A query checked against the schema, beside Hive Gateway, which needs graphql 16 and so a `node_modules` of its own. */
export const graphql: Suite = oneHopSuite({
  name: 'graphql',
  role: new URL('./roles/graphql-upstream.ts', import.meta.url),
  api: { name: 'bench', price: '0.001', protocol: 'GraphQL' },
  body: JSON.stringify({
    query: 'query Posts($first: Int) { posts(first: $first) { id title } }',
    variables: { first: FIRST }
  }),
  answer: ANSWER,
  peer: {
    title: `Hive Gateway ${HIVE_VERSION}`,
    role: new URL('./roles/hive-gateway.ts', import.meta.url),
    folder: `hive-gateway-${HIVE_VERSION}`,
    packages: [`@graphql-hive/gateway-runtime@${HIVE_VERSION}`, '@graphql-mesh/transport-http@1.2.1', 'graphql@16.15.0']
  },
  cpuAim: 1.5,
  note: `One query with variables, ${ANSWER.length} bytes of data; graphql-http executes it.`
})
