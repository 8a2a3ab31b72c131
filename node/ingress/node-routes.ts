import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { SoukError } from '../../lib/index.ts'
import type { Agents } from './discovery/agents.ts'
import { routesWith } from './route.ts'
import { anyObject } from './views.ts'
import type { RequestContext } from './request-context.ts'

export interface NodeContext {
  /** Why this node refuses new work, as `Store.refusal`. */
  readonly refusal: () => SoukError | undefined
  /** The OpenAPI document of this ingress, as JSON. */
  readonly openapi: () => string
}

const route = routesWith<NodeContext>()
const ok = z.object({ status: z.literal('ok') })

/** Routes about the ingress itself. Alive means that the process responds. Ready means that it accepts calls; a draining node is not ready. */
export const nodeRoutes = [
  route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document.',
    response: anyObject,
    mediaType: 'application/openapi+json',
    handler: ({ openapi }, { reply }) => reply.send(openapi())
  }),
  route({
    method: 'GET',
    path: '/livez',
    summary: 'Liveness: the process responds.',
    response: ok,
    handler: () => ({ status: 'ok' as const })
  }),
  route({
    method: 'GET',
    path: '/readyz',
    summary:
      'Readiness: the node accepts calls. Otherwise 503 with the reason: it is stopping, its database is unreachable, or its disk is full.',
    response: ok,
    handler({ refusal }) {
      const error = refusal()
      if (error !== undefined) throw error
      return { status: 'ok' as const }
    }
  })
] as const

export interface AgentContext {
  readonly agents: Agents
  readonly contextOf: (request: FastifyRequest, reply: FastifyReply) => RequestContext
}

export const agentRoutes = [
  routesWith<AgentContext>()({
    method: 'POST',
    path: '/mcp',
    summary: 'The Model Context Protocol, for agents (JSON-RPC).',
    needsKey: true,
    query: z.object({
      api: z.string().optional().describe('An API whose operations become tools of their own. Repeatable.'),
      operation: z
        .string()
        .optional()
        .describe('Only operations with this name become tools; `*` stands for any characters. Repeatable.')
    }),
    rawBody: anyObject,
    response: anyObject,
    async handler({ agents, contextOf }, { request, reply }) {
      await agents.serve(contextOf(request, reply))
      return reply
    }
  })
] as const
