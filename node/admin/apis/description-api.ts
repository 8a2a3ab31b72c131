import { z } from 'zod'
import { PROTOCOL_NAMES } from '../../../protocols/protocol-descriptors.ts'
import { list, view, viewWith } from '../../http/schemas.ts'
import { callBody } from '../call-body.ts'
import { upstreamShape } from './upstream-input.ts'

/** Inputs and responses of the description routes: operations and schemas of APIs. */

export const operationViewSchema = view('OperationView', {
  name: z.string(),
  description: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional().describe('JSON Schemas (draft 2020-12), where known.'),
  output: z.record(z.string(), z.unknown()).optional()
})
export type OperationView = z.output<typeof operationViewSchema>

export const descriptionViewSchema = view('DescriptionView', {
  operations: list(operationViewSchema),
  sdl: z.string().nullable().describe('GraphQL only: the schema in SDL; null if the provider hides it.')
})
export type DescriptionView = z.output<typeof descriptionViewSchema>

export const upstreamCheckSchema = z.strictObject({
  name: z
    .string()
    .optional()
    .describe('Name of an API registered here. Without `auth`, its credentials are used if the origin is the same.'),
  protocol: z.enum(PROTOCOL_NAMES),
  ...upstreamShape
})
export type UpstreamCheckInput = z.input<typeof upstreamCheckSchema>

export const upstreamCheckViewSchema = viewWith(
  descriptionViewSchema,
  'UpstreamCheckView',
  {
    warnings: list(z.string()),
    missing: list(z.string()).describe(
      'The warnings that name a missing import. With any, the API is published only with `wsdl.incomplete`.'
    ),
    about: z
      .strictObject({ title: z.string().optional(), description: z.string().optional(), servers: list(z.string()) })
      .optional()
      .describe('Title, text and addresses that the description gives its API, to prefill a registration.')
  },
  'Description read from an upstream. It is not stored or published.'
)
export type UpstreamCheckView = z.output<typeof upstreamCheckViewSchema>

export const upstreamCallSchema = z.strictObject({
  upstream: upstreamCheckSchema,
  body: callBody.describe('Body as a consumer would send it.')
})
export type UpstreamCallInput = z.input<typeof upstreamCallSchema>

export const upstreamCallViewSchema = view(
  'UpstreamCallView',
  {
    status: z.number(),
    headers: list(z.tuple([z.string(), z.string()]).readonly()),
    success: z.boolean().describe("True if a consumer's call would be charged."),
    upstream_ms: z.number().describe("Milliseconds until the upstream's response head."),
    body: z.string().describe('Start of the body, decoded as UTF-8. A long or endless body is truncated.'),
    is_cut: z.boolean()
  },
  'Result of one test call. It is not published, charged or counted.'
)
export type UpstreamCallView = z.output<typeof upstreamCallViewSchema>

export const mappingPreviewViewSchema = viewWith(
  descriptionViewSchema,
  'MappingPreviewView',
  {
    problems: list(
      z.object({
        at: z.string(),
        problem: z.string()
      })
    )
  },
  'The API as consumers would see it, or the errors of the mapping.'
)
export type MappingPreviewView = z.output<typeof mappingPreviewViewSchema>
