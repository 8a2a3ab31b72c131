import type { FastifyInstance } from 'fastify'
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
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const text = { type: 'string' }
  const parameters = [
    ...named.map((name) => ({ name, in: 'path', required: true, schema: text })),
    ...query.map((name) => ({ name, in: 'query', schema: text })),
    ...headers.map((name) => ({ name, in: 'header', schema: text }))
  ]
  return {
    operationId: `${method} ${path}`.replaceAll(/[^A-Za-z0-9]+/g, '_').replace(/_$/, ''),
    ...(summary === undefined ? {} : { summary }),
    ...(needsKey ? { security: [{ key: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      [String(status)]: {
        description: summary ?? 'As asked.',
        ...(answer === undefined ? {} : { content: { [type]: { schema: answer } } })
      },
      default: PROBLEM
    }
  }
}
