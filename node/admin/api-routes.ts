import type { FastifyInstance } from 'fastify'
import type { Registered, RegistrationStatus } from '../registrations/registration.ts'
import {
  type ApiView,
  type MappingCheckView,
  mappingSchema,
  type MappingView,
  type RegisteredView,
  registerSchema,
  replicaSchema
} from './api.ts'
import { parse } from './problems.ts'
import type { AdminInit } from './admin-init.ts'
import { limitsOf } from './rate-api.ts'
import { upstreamOf } from './upstream-input.ts'
import { apiView } from './views.ts'
import { whileConnected } from '../ingress/visit.ts'
import { present } from './present.ts'

interface Named {
  Params: { name: string }
}

/** What this node serves. */
export function apiRoutes(app: FastifyInstance, { souk, registrations, clock }: AdminInit): void {
  const view = async (status: RegistrationStatus): Promise<ApiView> =>
    apiView(status, { usage: await souk.store.calls.usage(), self: souk.status().provider, now: clock.now() })
  const registered = async (done: Registered): Promise<RegisteredView> => ({
    api: await view(registrations.show(done.registration.name)),
    updated: done.updated,
    warnings: done.warnings
  })

  app.get('/apis', async (): Promise<{ apis: ApiView[] }> => {
    const usage = await souk.store.calls.usage()
    const init = { usage, self: souk.status().provider, now: clock.now() }
    return { apis: registrations.list().map((status) => apiView(status, init)) }
  })

  app.post('/apis', async (request, reply): Promise<RegisteredView> => {
    const input = parse(registerSchema, request.body)
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
    const done = await registrations.register(
      terms,
      input.protocol,
      upstreamOf(input, input.idempotent),
      whileConnected(reply.raw)
    )
    if (!done.updated) reply.code(201)
    return registered(done)
  })

  app.post('/replicas', async (request, reply): Promise<RegisteredView> => {
    const input = parse(replicaSchema, request.body)
    const done = await registrations.serve(input.api, upstreamOf(input), whileConnected(reply.raw))
    if (!done.updated) reply.code(201)
    return registered(done)
  })

  app.get<Named>('/apis/:name', (request): Promise<ApiView> => view(registrations.show(request.params.name)))

  app.post<Named>('/apis/:name/pause', async (request): Promise<ApiView> => {
    return view(await registrations.move(request.params.name, 'paused'))
  })

  app.post<Named>('/apis/:name/resume', async (request): Promise<ApiView> => {
    return view(await registrations.move(request.params.name, 'published'))
  })

  app.get<Named>('/apis/:name/mapping', (request): MappingView => registrations.mapping(request.params.name))

  app.put<Named>('/apis/:name/mapping', async (request): Promise<RegisteredView> => {
    const { mapping } = parse(mappingSchema, request.body)
    return registered(await registrations.map(request.params.name, mapping))
  })

  app.post<Named>('/apis/:name/mapping/check', async (request): Promise<MappingCheckView> => {
    const { mapping } = parse(mappingSchema, request.body)
    return { problems: await registrations.checkMapping(request.params.name, mapping) }
  })

  app.delete<Named>('/apis/:name', async (request, reply) => {
    await registrations.remove(request.params.name)
    return reply.code(204).send()
  })
}
