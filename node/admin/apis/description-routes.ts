import { completeOperations, limits } from '../../../lib/index.ts'
import type { ApiDescription } from '../../../lib/interface/index.ts'
import type { DryRunUpstream } from '../../upstream/dry-run.ts'
import { mappingSchema } from '../api.ts'
import {
  type DescriptionView,
  descriptionViewSchema,
  mappingPreviewViewSchema,
  upstreamCallSchema,
  upstreamCallViewSchema,
  upstreamCheckSchema,
  upstreamCheckViewSchema
} from './description-api.ts'
import { present } from '../../present.ts'
import { route } from '../route.ts'
import { upstreamOf } from './upstream-input.ts'

/** Routes that describe registered and unregistered APIs. */
export const descriptionRoutes = [
  route({
    method: 'GET',
    path: '/apis/:name/description',
    summary: 'Operations of an API and their schemas.',
    response: descriptionViewSchema,
    async handler({ registrations, souk }, { params, signal }) {
      const { registration, listing } = registrations.show(params.name)
      if (listing === undefined) return descriptionView(await registrations.dryRun.description(registration))
      const api = { signed: listing.signed, owners: [] }
      const [whole, sdl] = await Promise.all([souk.descriptions.whole(api, signal), souk.descriptions.sdl(api, signal)])
      return descriptionView({ ...whole, ...(sdl === undefined ? {} : { sdl }) })
    }
  }),
  route({
    method: 'POST',
    path: '/upstreams/check',
    summary: 'Reads the description of an API without registering it.',
    body: upstreamCheckSchema,
    response: upstreamCheckViewSchema,
    async handler({ registrations }, { body, signal }) {
      const { description, warnings, missing = [], about } = await registrations.dryRun.check(dryRunOf(body), signal)
      return { ...descriptionView(description), warnings, missing, ...(about === undefined ? {} : { about }) }
    }
  }),
  route({
    method: 'POST',
    path: '/upstreams/call',
    summary: 'Makes a test call, also to an unregistered API. It is not published, charged or counted.',
    body: upstreamCallSchema,
    hasCallBody: true,
    response: upstreamCallViewSchema,
    async handler({ registrations }, { body: { upstream, body }, signal }) {
      const answer = await registrations.dryRun.call(dryRunOf(upstream), body, signal)
      return {
        status: answer.status,
        headers: answer.headers,
        success: answer.success,
        upstream_ms: answer.upstreamMs,
        body: new TextDecoder().decode(answer.body),
        is_cut: answer.isCut
      }
    }
  })
] as const

export const previewRoutes = [
  route({
    method: 'POST',
    path: '/apis/:name/mapping/preview',
    summary: 'Shows the API as consumers would see it with this mapping.',
    body: mappingSchema,
    response: mappingPreviewViewSchema,
    async handler({ registrations }, { params, body: { mapping } }) {
      const problems = await registrations.checkMapping(params.name, mapping)
      if (problems.length > 0) return { operations: [], sdl: null, problems }
      const { description } = await registrations.previewMapping(params.name, mapping)
      return { ...descriptionView(description), problems }
    }
  })
] as const

function dryRunOf({ name, protocol, ...upstream }: ReturnType<typeof upstreamCheckSchema.parse>): DryRunUpstream {
  return { ...upstreamOf(upstream), protocol, ...present({ name }) }
}

function descriptionView(description: ApiDescription): DescriptionView {
  const operations = completeOperations(description, limits.SHOWN_DESCRIPTION_BYTES_MAX)
  return { operations, sdl: description.sdl ?? null }
}
