import { type RequestListener, type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface YogaServer {
  /** The URL of its endpoint. */
  readonly url: string
  close(): Promise<void>
}

/** A resolver, with only the parameters that tests use. */
export type Resolver = (parent: unknown, args: Readonly<Record<string, never>>) => unknown

export interface YogaSchema {
  readonly typeDefs: string
  readonly resolvers: Readonly<Record<string, Readonly<Record<string, Resolver | { readonly subscribe: Resolver }>>>>
}

/** The exports used here. The package's own declarations fail under strict type checks. */
interface Yoga {
  createSchema(schema: YogaSchema): object
  createYoga(options: { readonly schema: object; readonly logging: false }): RequestListener
}

const NAME = 'graphql-yoga'

/** A GraphQL Yoga server on loopback. */
export async function yogaServer(schema: YogaSchema): Promise<YogaServer> {
  const { createSchema, createYoga } = (await import(NAME)) as Yoga
  return listening(createServer(createYoga({ schema: createSchema(schema), logging: false })))
}

/** Any server on loopback, at `/graphql`. */
export async function listening(server: Server): Promise<YogaServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
