import type { IncomingMessage } from 'node:http'
import { type DocumentNode, GraphQLError, buildSchema, execute, parse, validate } from 'graphql'
import { type DemoOptions, type DemoServer, bodyText, runAlone, sendJson, serveDemo } from './demo-server.ts'

const schema = buildSchema(`
  type Query {
    "One user, or null when there is none with this id."
    user(id: ID!): User
    "The first users, by id."
    users(first: Int = 10): [User!]!
  }

  type User {
    id: ID!
    name: String!
    email: String!
    "ISO 8601."
    createdAt: String!
    "The latest posts, newest first."
    posts(first: Int = 3): [Post!]!
  }

  type Post {
    id: ID!
    title: String!
    author: User!
  }
`)

const NAMES = [
  'Ada Lovelace',
  'Alan Turing',
  'Barbara Liskov',
  'Edsger Dijkstra',
  'Grace Hopper',
  'Tony Hoare'
] as const
const TITLES = ['On notes', 'On machines', 'On types', 'On goto', 'On nanoseconds', 'On null'] as const
const USERS = 100
const FIRST_DAY_MS = Date.UTC(2024, 0, 1)
const DAY_MS = 86_400_000
/** Enough for any reasonable query of this small schema. */
const TOKENS_MAX = 2_000

interface User {
  id: string
  name: string
  email: string
  createdAt: string
  posts(args: { first: number }): Post[]
}

interface Post {
  id: string
  title: string
  author(): User
}

function userOf(number: number): User {
  const name = NAMES[number % NAMES.length] ?? NAMES[0]
  const login = name.toLowerCase().replace(' ', '.')
  return {
    id: String(number),
    name,
    email: `${login}.${number}@example.com`,
    createdAt: new Date(FIRST_DAY_MS + number * DAY_MS).toISOString(),
    posts: ({ first }) => Array.from({ length: bounded(first, TITLES.length) }, (_, index) => postOf(number, index))
  }
}

function postOf(user: number, index: number): Post {
  return { id: `${user}-${index + 1}`, title: TITLES[(user + index) % TITLES.length] ?? '', author: () => userOf(user) }
}

function bounded(first: number, most: number): number {
  if (first < 0) throw new GraphQLError('first must not be negative.')
  return Math.min(first, most)
}

const root = {
  user: ({ id }: { id: string }) => (/^[1-9]\d{0,2}$/.test(id) && Number(id) <= USERS ? userOf(Number(id)) : null),
  users: ({ first }: { first: number }) =>
    Array.from({ length: bounded(first, USERS) }, (_, index) => userOf(index + 1))
}

/** The demo’s GraphQL API: fictional users 1 to 100 and their posts, with introspection. */
export function startUsers(options: DemoOptions = {}): Promise<DemoServer> {
  return serveDemo(
    '/graphql',
    async (request, response) => {
      const modern = request.headers.accept?.includes('application/graphql-response+json') === true
      const { status, body } = await answer(request)
      sendJson(response, status, body, modern ? 'application/graphql-response+json' : 'application/json')
    },
    options
  )
}

async function answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const refuse = (...errors: Array<GraphQLError | { message: string }>) => ({ status: 400, body: { errors } })
  if (request.method !== 'POST') return { ...refuse({ message: 'Use POST.' }), status: 405 }
  const { query, variables, operationName } = parametersIn(await bodyText(request))
  if (typeof query !== 'string') return refuse({ message: 'Send JSON with a "query".' })
  const document = parsed(query)
  if (document instanceof GraphQLError) return refuse(document)
  const errors = validate(schema, document)
  if (errors.length > 0) return refuse(...errors)
  const result = await execute({
    schema,
    document,
    rootValue: root,
    variableValues: typeof variables === 'object' && variables !== null ? { ...variables } : {},
    operationName: typeof operationName === 'string' ? operationName : null
  })
  // Without data, the request itself was wrong (GraphQL over HTTP, "Status codes").
  return { status: 'data' in result ? 200 : 400, body: result }
}

function parametersIn(text: string | undefined): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text ?? '')
    return typeof body === 'object' && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}

function parsed(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxLexicalTokens: TOKENS_MAX })
  } catch (error) {
    return error instanceof GraphQLError ? error : new GraphQLError('The document cannot be read.')
  }
}

if (import.meta.main) await runAlone(startUsers)
