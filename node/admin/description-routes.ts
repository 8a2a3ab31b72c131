import type { FastifyInstance } from 'fastify'
import type { ApiDescription } from '../../lib/interface/index.ts'
import type { TrialUpstream } from '../upstream/trials.ts'
import { whileConnected } from '../ingress/visit.ts'
import type { AdminInit } from './admin-init.ts'
import { mappingSchema } from './api.ts'
import {
  type DescriptionView,
  type MappingPreviewView,
  upstreamCallSchema,
  type UpstreamCallView,
  upstreamCheckSchema,
  type UpstreamCheckView
} from './description-api.ts'
import { present } from './present.ts'
import { parse } from './problems.ts'
import { upstreamOf } from './upstream-input.ts'

interface Named {
  Params: { name: string }
}

/** What APIs are: those that are registered, and those that could be. */
export function descriptionRoutes(app: FastifyInstance, { registrations }: AdminInit): void {
  const { trials } = registrations

  app.get<Named>('/apis/:name/description', async ({ params }): Promise<DescriptionView> => {
    const { registration, listing } = registrations.show(params.name)
    return descriptionView(listing?.signed.manifest.api ?? (await trials.description(registration)))
  })

  app.post('/upstreams/check', async (request, reply): Promise<UpstreamCheckView> => {
    const asked = trialOf(parse(upstreamCheckSchema, request.body))
    const { description, warnings } = await trials.check(asked, whileConnected(reply.raw))
    return { ...descriptionView(description), warnings }
  })

  app.post('/upstreams/call', async (request, reply): Promise<UpstreamCallView> => {
    const { upstream, body } = parse(upstreamCallSchema, request.body)
    const answer = await trials.call(trialOf(upstream), body, whileConnected(reply.raw))
    return {
      status: answer.status,
      headers: answer.headers,
      success: answer.success,
      upstream_ms: answer.upstreamMs,
      body: new TextDecoder().decode(answer.body),
      is_cut: answer.isCut
    }
  })

  app.post<Named>('/apis/:name/mapping/preview', async ({ params, body }): Promise<MappingPreviewView> => {
    const { mapping } = parse(mappingSchema, body)
    const problems = await registrations.checkMapping(params.name, mapping)
    if (problems.length > 0) return { operations: [], sdl: null, problems }
    const { description } = await registrations.previewMapping(params.name, mapping)
    return { ...descriptionView(description), problems }
  })
}

function trialOf({ name, protocol, ...upstream }: ReturnType<typeof upstreamCheckSchema.parse>): TrialUpstream {
  return { ...upstreamOf(upstream), protocol, ...present({ name }) }
}

function descriptionView({ operations, sdl }: ApiDescription): DescriptionView {
  return { operations, sdl: sdl ?? null }
}
