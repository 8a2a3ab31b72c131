import { z } from 'zod'
import { list } from '../../http/schemas.ts'
import type { Registered, RegistrationStatus } from '../../registrations/registration.ts'
import {
  type ApiView,
  apiViewSchema,
  mappingCheckViewSchema,
  mappingSchema,
  mappingViewSchema,
  type RegisteredView,
  registeredViewSchema,
  registerSchema,
  replicaSchema
} from '../api.ts'
import { present } from '../../present.ts'
import { limitsOf } from '../subscriptions/rate-api.ts'
import { type AdminContext, route } from '../route.ts'
import { upstreamOf } from './upstream-input.ts'
import { overCatalogue } from '../../registrations/over-catalogue.ts'
import { apiView } from '../views.ts'

type Serving = Pick<AdminContext, 'souk' | 'registrations' | 'clock'>

/** Routes for the APIs that this node serves. */
export const apiRoutes = [
  route({
    method: 'GET',
    path: '/apis',
    summary: 'Lists the APIs served here.',
    response: z.object({ apis: list(apiViewSchema) }),
    async handler({ souk, registrations, clock }) {
      const usage = await souk.store.calls.usage()
      const init = { usage, node: souk.status(), now: clock.now() }
      return { apis: registrations.list().map((status) => apiView(status, init)) }
    }
  }),
  route({
    method: 'POST',
    path: '/apis',
    summary:
      'Reads the endpoint, then registers and publishes the API. Changes to a registered API need `replace`; without it the response is `api_exists`, with the `changes`.',
    body: registerSchema,
    response: registeredViewSchema,
    status: 201,
    otherResponses: { 200: registeredViewSchema },
    async handler(context, { body: input, signal, reply }) {
      const terms = present({
        name: input.name,
        price: input.price,
        pricePerEvent: input.price_per_event,
        eventsIncluded: input.events_included,
        description: input.description,
        tags: input.tags,
        idempotent: input.idempotent,
        requestBytesMax: input.request_bytes_max,
        forwardsPaths: input.forward_paths,
        ...limitsOf(input)
      })
      const upstream = upstreamOf(input, input.idempotent)
      const init = { terms, protocol: input.protocol, asked: upstream, replaces: input.replace }
      const done = await context.registrations.register(init, signal)
      if (done.updated) reply.code(200)
      return registeredView(context, done)
    }
  }),
  route({
    method: 'POST',
    path: '/replicas',
    summary: 'Serves another provider’s API from this node too.',
    body: replicaSchema,
    response: registeredViewSchema,
    status: 201,
    otherResponses: { 200: registeredViewSchema },
    async handler(context, { body, signal, reply }) {
      const done = await context.registrations.serve(body.api, upstreamOf(body), signal)
      if (done.updated) reply.code(200)
      return registeredView(context, done)
    }
  }),
  route({
    method: 'GET',
    path: '/apis/:name',
    summary: 'Returns one API.',
    response: apiViewSchema,
    handler: (context, { params }) => shownApi(context, context.registrations.show(params.name))
  }),
  route({
    method: 'DELETE',
    path: '/apis/:name',
    summary: 'Stops serving the API and deletes its registration.',
    handler: ({ registrations }, { params }) => registrations.remove(params.name)
  }),
  route({
    method: 'POST',
    path: '/apis/:name/pause',
    summary: 'Refuses calls until the API is resumed.',
    response: apiViewSchema,
    async handler(context, { params }) {
      return shownApi(context, await context.registrations.move(params.name, 'paused'))
    }
  }),
  route({
    method: 'POST',
    path: '/apis/:name/resume',
    summary: 'Accepts calls again.',
    response: apiViewSchema,
    async handler(context, { params }) {
      return shownApi(context, await context.registrations.move(params.name, 'published'))
    }
  })
] as const

/** Routes for mappings: the provider's changes to the JSON of a SOAP API. */
export const mappingRoutes = [
  route({
    method: 'GET',
    path: '/apis/:name/mapping',
    summary: 'Returns the mapping, and the JSON Schema of mappings.',
    response: mappingViewSchema,
    handler: ({ registrations }, { params }) => registrations.mapping(params.name)
  }),
  route({
    method: 'PUT',
    path: '/apis/:name/mapping',
    summary: 'Replaces the mapping. The listing gets a new revision.',
    body: mappingSchema,
    response: registeredViewSchema,
    async handler(context, { params, body }) {
      return registeredView(context, await context.registrations.map(params.name, body.mapping))
    }
  }),
  route({
    method: 'POST',
    path: '/apis/:name/mapping/check',
    summary: 'Checks a mapping without changing anything.',
    body: mappingSchema,
    response: mappingCheckViewSchema,
    async handler({ registrations }, { params, body }) {
      return { problems: await registrations.checkMapping(params.name, body.mapping) }
    }
  })
] as const

export async function shownApi({ souk, clock }: Serving, status: RegistrationStatus): Promise<ApiView> {
  return apiView(status, { usage: await souk.store.calls.usage(), node: souk.status(), now: clock.now() })
}

async function registeredView(context: Serving, done: Registered): Promise<RegisteredView> {
  const api = await shownApi(context, context.registrations.show(done.registration.name))
  const own = context.registrations.list().filter(({ registration }) => registration.kind === 'own').length
  return { api, updated: done.updated, warnings: [...done.warnings, ...overCatalogue(own)] }
}
