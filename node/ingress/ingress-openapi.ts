import type { FastifyInstance } from 'fastify'
import { PARAMETERS } from './parameter-docs.ts'
import { ROUTE_DOCS, type RouteDoc, SCHEMAS } from './route-docs.ts'

interface Route {
  readonly method: string
  /** As Fastify has it: `/v1/keys/:id`. */
  readonly url: string
}

/** Answers to a HEAD or OPTIONS are those of every HTTP server. */
const UNSAID = new Set(['HEAD', 'OPTIONS'])

/**
 * `/openapi.json`: all of this ingress as OpenAPI 3.1. It is made of the routes themselves, so that none is left out; what is said of
 * each stands in `route-docs.ts`. Call it before any route is added.
 */
export function addIngressOpenapi(app: FastifyInstance, version: string): void {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) if (!UNSAID.has(each)) routes.push({ method: each, url })
  })
  let text: string | undefined
  app.get('/openapi.json', (_request, reply) => {
    text ??= JSON.stringify(documentOf(routes, version))
    return reply.type('application/openapi+json').send(text)
  })
}

function documentOf(routes: readonly Route[], version: string) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, url } of routes) {
    const path = url.replaceAll(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}')
    const operations = (paths[path] ??= {})
    operations[method.toLowerCase()] = operationOf(method, path, ROUTE_DOCS[`${method} ${path}`] ?? {})
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Souk ingress',
      version,
      description:
        'Calls APIs of a peer-to-peer marketplace, and pays for them by the call. What each API takes is said by its own document, ' +
        'at /v1/apis/{id}/openapi.json.'
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Consumer-Key' } },
      schemas: SCHEMAS
    }
  }
}

const PROBLEM = {
  description: 'A problem document (RFC 9457): match on its `code`.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
}

const PAYMENT_REQUIRED = {
  description: 'It has to be paid for: with a key that may, or by x402 as the header says.',
  headers: { 'PAYMENT-REQUIRED': { description: 'x402 version 2, base64.', schema: { type: 'string' } } },
  content: PROBLEM.content
}

/** For tools that show a document in parts. */
function tagOf(path: string): string {
  const [, tag] = TAGS.find(([start]) => path.startsWith(start)) ?? ['', 'Node']
  return tag
}

const TAGS = [
  ['/api/', 'Calls'],
  ['/mcp', 'Calls'],
  ['/v1/apis', 'Market'],
  ['/.well-known', 'Market'],
  ['/discovery', 'Market'],
  ['/v1/subscriptions', 'Subscriptions'],
  ['/v1/', 'Account']
] as const

const meaningOf = (name: string) => PARAMETERS[name] ?? { schema: { type: 'string' } }

function operationOf(method: string, path: string, doc: RouteDoc) {
  const {
    summary,
    query = [],
    headers = [],
    body,
    answer,
    status = 200,
    needsKey = false,
    type = 'application/json'
  } = doc
  const paysItself = headers.includes('PAYMENT-SIGNATURE')
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const parameters = [
    ...named.map((name) => ({ name, in: 'path', required: true, ...meaningOf(name) })),
    ...query.map((name) => ({ name, in: 'query', ...meaningOf(name) })),
    ...headers.map((name) => ({ name, in: 'header', ...meaningOf(name) }))
  ]
  return {
    operationId: `${method} ${path}`.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, ''),
    ...(summary === undefined ? {} : { summary }),
    tags: [tagOf(path)],
    ...(needsKey ? { security: paysItself ? [{ key: [] }, {}] : [{ key: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      ...(paysItself ? { 402: PAYMENT_REQUIRED } : {}),
      [String(status)]: {
        description: summary ?? 'As asked.',
        ...(answer === undefined ? {} : { content: { [type]: { schema: answer } } })
      },
      default: PROBLEM
    }
  }
}
