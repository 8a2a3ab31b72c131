import { z } from 'zod'
import { PROTOCOL_NAMES } from '../../../protocols/protocol-descriptors.ts'
import { list, view, viewWith } from '../../http/schemas.ts'
import { upstreamShape } from './upstream-input.ts'

/** What the admin API takes and gives of what APIs are: their operations and schemas. As in `api.ts`. */

export const operationViewSchema = view('OperationView', {
  name: z.string(),
  description: z.string().optional(),
  input: z.record(z.string(), z.unknown()).optional().describe('JSON Schemas (draft 2020-12), where known.'),
  output: z.record(z.string(), z.unknown()).optional()
})
export type OperationView = z.output<typeof operationViewSchema>

export const descriptionViewSchema = view('DescriptionView', {
  operations: list(operationViewSchema),
  sdl: z.string().nullable().describe('GraphQL only: the schema in SDL; null where it is not told.')
})
export type DescriptionView = z.output<typeof descriptionViewSchema>

export const upstreamCheckSchema = z.strictObject({
  name: z
    .string()
    .optional()
    .describe(
      'Of an API that is registered here: its credentials are used, where none are given and the origin is the same.'
    ),
  protocol: z.enum(PROTOCOL_NAMES),
  ...upstreamShape
})
export type UpstreamCheckInput = z.input<typeof upstreamCheckSchema>

export const upstreamCheckViewSchema = viewWith(
  descriptionViewSchema,
  'UpstreamCheckView',
  {
    warnings: list(z.string())
  },
  'What was found at an upstream; nothing of it is kept or published.'
)
export type UpstreamCheckView = z.output<typeof upstreamCheckViewSchema>

export const upstreamCallSchema = z.strictObject({
  upstream: upstreamCheckSchema,
  body: z.json().describe('As a consumer would send it.')
})
export type UpstreamCallInput = z.input<typeof upstreamCallSchema>

export const upstreamCallViewSchema = view(
  'UpstreamCallView',
  {
    status: z.number(),
    headers: list(z.tuple([z.string(), z.string()]).readonly()),
    success: z.boolean().describe('A call of a consumer would be charged for it.'),
    upstream_ms: z.number().describe("Until the upstream's head."),
    body: z
      .string()
      .describe('Bytes of the body that were read, as text where they are; a long or endless one is cut.'),
    is_cut: z.boolean()
  },
  'One call as the adapter makes it: not published, not charged, not counted.'
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
  'The API as consumers would see it, or what does not fit.'
)
export type MappingPreviewView = z.output<typeof mappingPreviewViewSchema>
