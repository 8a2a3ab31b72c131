/** The three APIs of the demo: their servers, their registrations, and a sample call of each. */
export interface SampleApi {
  readonly name: string
  readonly protocol: 'REST' | 'SOAP' | 'GraphQL'
  readonly description: string
  /** Decimal USDC per call. */
  readonly price: string
  /** Module of the upstream, as in `child.ts`. */
  readonly upstream: string
  /** Body of the sample call. */
  readonly body: Readonly<Record<string, unknown>>
}

export const SAMPLE_APIS: readonly SampleApi[] = [
  {
    name: 'bb-sse-ticker',
    protocol: 'REST',
    description: 'Candles of a simulated market, also as a stream of server-sent events.',
    price: '0.001',
    upstream: './ticker',
    body: { symbol: 'BTCUSDT', interval: '1m' }
  },
  {
    name: 'bb-soap-account',
    protocol: 'SOAP',
    description: 'Balances of fictional accounts, from a SOAP service.',
    price: '0.002',
    upstream: './account',
    body: { operation: 'getBalance', accountId: 'ACC-1001' }
  },
  {
    name: 'bb-graphql-user',
    protocol: 'GraphQL',
    description: 'Fictional users and their posts.',
    // The lowest price that x402 clients can also pay by `exact`.
    price: '0.02',
    upstream: './users',
    body: { query: 'query ($id: ID!) { user(id: $id) { name email } }', variables: { id: '1' } }
  }
]
