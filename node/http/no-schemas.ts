import type { FastifyServerOptions } from 'fastify'

/**
 * Routes validate with zod, so Fastify gets no schemas. Given these, it does not load its own validator and serializer, which take
 * memory and time at start.
 */
export const NO_SCHEMAS = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse }
} satisfies FastifyServerOptions['schemaController']

function refuse(): never {
  throw new Error('Routes have no Fastify schemas: they validate with zod.')
}
