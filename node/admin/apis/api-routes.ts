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
import { present } from '../present.ts'
import { limitsOf } from '../subscriptions/rate-api.ts'
import { type AdminContext, route } from '../route.ts'
import { upstreamOf } from './upstream-input.ts'
import { apiView } from '../views.ts'

type Serving = Pick<AdminContext, 'souk' | 'registrations' | 'clock'>

/** What this node serves. */
export const apiRoutes = [
  route({
    method: 'GET',
    path: '/apis',
    summary: 'All of them.',
    response: z.object({ apis: list(apiViewSchema) }),
    async handler({ souk, registrations, clock }) {
      const usage = await souk.store.calls.usage()
      const init = { usage, self: souk.status().provider, now: clock.now() }
      return { apis: registrations.list().map((status) => apiView(status, init)) }
    }
  }),
  route({
    method: 'POST',
    path: '/apis',
    summary: 'Registers and publishes an API, after its endpoint was read; a name again makes a new revision.',
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
      const done = await context.registrations.register(terms, input.protocol, upstream, signal)
      if (done.updated) reply.code(200)
      return registeredView(context, done)
    }
  }),
  route({
    method: 'POST',
    path: '/replicas',
    summary: 'Serves another provider’s API from here too.',
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
    summary: 'One of them.',
    response: apiViewSchema,
    handler: (context, { params }) => shownApi(context, context.registrations.show(params.name))
  }),
  route({
    method: 'DELETE',
    path: '/apis/:name',
    summary: 'Stops serving it and forgets it.',
    handler: ({ registrations }, { params }) => registrations.remove(params.name)
  }),
  route({
    method: 'POST',
    path: '/apis/:name/pause',
    summary: 'Refuses its calls for now.',
    response: apiViewSchema,
    async handler(context, { params }) {
      return shownApi(context, await context.registrations.move(params.name, 'paused'))
    }
  }),
  route({
    method: 'POST',
    path: '/apis/:name/resume',
    summary: 'Takes calls again.',
    response: apiViewSchema,
    async handler(context, { params }) {
      return shownApi(context, await context.registrations.move(params.name, 'published'))
    }
  })
] as const

/** Changes of providers to the JSON of SOAP APIs. */
export const mappingRoutes = [
  route({
    method: 'GET',
    path: '/apis/:name/mapping',
    summary: 'The mapping, and the JSON Schema of mappings.',
    response: mappingViewSchema,
    handler: ({ registrations }, { params }) => registrations.mapping(params.name)
  }),
  route({
    method: 'PUT',
    path: '/apis/:name/mapping',
    summary: 'Uses this one from now on: a new revision of the listing.',
    body: mappingSchema,
    response: registeredViewSchema,
    async handler(context, { params, body }) {
      return registeredView(context, await context.registrations.map(params.name, body.mapping))
    }
  }),
  route({
    method: 'POST',
    path: '/apis/:name/mapping/check',
    summary: 'Says what of a mapping does not fit, and changes nothing.',
    body: mappingSchema,
    response: mappingCheckViewSchema,
    async handler({ registrations }, { params, body }) {
      return { problems: await registrations.checkMapping(params.name, body.mapping) }
    }
  })
] as const

export async function shownApi({ souk, clock }: Serving, status: RegistrationStatus): Promise<ApiView> {
  return apiView(status, { usage: await souk.store.calls.usage(), self: souk.status().provider, now: clock.now() })
}

async function registeredView(context: Serving, done: Registered): Promise<RegisteredView> {
  const api = await shownApi(context, context.registrations.show(done.registration.name))
  return { api, updated: done.updated, warnings: done.warnings }
}
