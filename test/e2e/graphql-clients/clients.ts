import { createClient } from 'graphql-ws'
import { parse } from 'graphql'
import { WebSocket } from 'ws'

/** A published client with nothing but URL and key. Absent: the client cannot do it. */
export interface GraphqlClient {
  readonly name: string
  readonly of: string
  /** The result of `{ hello }`, asked for twice at once. */
  query?(): Promise<readonly unknown[]>
  /** The results of `subscription { count }`. */
  subscribe?(): Promise<readonly unknown[]>
}

/** The members used here. The packages' own declarations fail under strict type checks. */
interface Apollo {
  readonly ApolloClient: new (
    options: object
  ) => {
    query(options: object): Promise<{ readonly data: object }>
    subscribe(options: object): {
      subscribe(observer: {
        next(value: { readonly data: object }): void
        error(cause: unknown): void
        complete(): void
      }): unknown
    }
    stop(): void
  }
  readonly InMemoryCache: new () => object
  readonly HttpLink: new (options: object) => object
  readonly BatchHttpLink: new (options: object) => object
  readonly GraphQLWsLink: new (client: object) => object
}
interface Urql {
  readonly Client: new (
    options: object
  ) => { query(text: string, variables: object): { toPromise(): Promise<{ readonly data?: object }> } }
  readonly fetchExchange: object
}

const [CORE, BATCH, SOCKET, URQL] = [
  '@apollo/client/core',
  '@apollo/client/link/batch-http',
  '@apollo/client/link/subscriptions',
  '@urql/core'
]

export async function apolloClients(url: string, key: string): Promise<GraphqlClient[]> {
  const parts = await Promise.all([import(CORE), import(BATCH), import(SOCKET)])
  const { ApolloClient, InMemoryCache, HttpLink, BatchHttpLink, GraphQLWsLink } = Object.assign({}, ...parts) as Apollo
  const headers = { 'X-Consumer-Key': key }
  const socket = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams: headers })
  const clientOf = (link: object) => new ApolloClient({ link, cache: new InMemoryCache() })
  const of = '@apollo/client'
  const query = (link: object) => async () => {
    const made = clientOf(link)
    const asked = () =>
      made.query({ query: parse('{ hello }'), fetchPolicy: 'no-cache', context: { queryDeduplication: false } })
    const results = await Promise.all([asked(), asked()])
    made.stop()
    return results.map(({ data }) => data)
  }
  const subscribe =
    (link: object, end = () => {}) =>
    () =>
      new Promise<object[]>((resolve, reject) => {
        const results: object[] = []
        clientOf(link)
          .subscribe({ query: parse('subscription { count }') })
          .subscribe({
            next: ({ data }) => results.push(data),
            error: reject,
            complete() {
              end()
              resolve(results)
            }
          })
      })
  const http = new HttpLink({ uri: url, headers })
  const ws = new GraphQLWsLink(socket)
  return [
    {
      name: '`@apollo/client`, `HttpLink` (multipart subscriptions)',
      of,
      query: query(http),
      subscribe: subscribe(http)
    },
    { name: '`@apollo/client`, `BatchHttpLink`', of, query: query(new BatchHttpLink({ uri: url, headers })) },
    {
      name: '`@apollo/client`, `GraphQLWsLink`',
      of,
      query: query(ws),
      subscribe: subscribe(ws, () => void socket.dispose())
    }
  ]
}

export async function urqlClient(url: string, key: string): Promise<GraphqlClient> {
  const { Client, fetchExchange } = (await import(URQL)) as Urql
  const options = {
    url,
    exchanges: [fetchExchange],
    fetchOptions: { headers: { 'X-Consumer-Key': key } },
    preferGetMethod: false
  }
  const ask = async () => (await new Client(options).query('{ hello }', {}).toPromise()).data
  return { name: '`@urql/core`', of: '@urql/core', query: () => Promise.all([ask(), ask()]) }
}
