import { z } from 'zod'
import { SoukError } from '../../../lib/base/errors.ts'
import type { JsonSchema, MappingProblem } from '../../../lib/interface/adapter.ts'
import { invalidText } from '../../invalid-text.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])
const rename = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^/$@][^/]*$/)
  .describe("The consumer's name for the field.")
const hide = z.literal(true)

const inputRule = z.strictObject({
  rename: rename.optional(),
  hide: hide.describe('Consumers neither see nor give the field.').optional(),
  value: z.json().describe('Always sent; hides the field.').optional(),
  default: z.json().describe('Sent when the consumer gives nothing.').optional(),
  required: z.literal(true).describe('The consumer must give it, even if the WSDL does not require it.').optional(),
  min: scalar.describe('Minimum; a string if a JSON number is not exact.').optional(),
  max: scalar.describe('Maximum.').optional(),
  minLength: z.int().min(0).describe('Minimum number of characters.').optional(),
  maxLength: z.int().min(0).optional(),
  minItems: z.int().min(0).describe('Minimum number of array items.').optional(),
  maxItems: z.int().min(0).optional(),
  pattern: z
    .string()
    .max(1_000)
    .describe(
      'JavaScript regular expression (u) that must match the whole text, without look-around and back references.'
    )
    .optional(),
  enum: z.array(scalar).min(1).max(1_000).describe('The allowed values.').optional()
})

const outputRule = z.strictObject({
  rename: rename.optional(),
  hide: hide.describe('Omitted from responses.').optional()
})

const operation = z.strictObject({
  mtom: z.boolean().describe('Whether binary content is sent as attachments (MTOM); overrides the WSDL.').optional(),
  input: z.record(z.string(), inputRule).describe('By path: names joined by "/", without array indices.').optional(),
  output: z.record(z.string(), outputRule).optional()
})

const mapping = z
  .strictObject({
    version: z.literal(1),
    revision: z.int().min(1).describe('Increases with every change.'),
    operations: z.record(z.string(), operation).describe("By the consumer's name of the operation.")
  })
  .describe("A provider's changes to the JSON of a SOAP API.")

/** A provider's mapping: its changes to the JSON that the WSDL alone would give. */
export type SoapMapping = z.infer<typeof mapping>
export type InputRule = z.infer<typeof inputRule>

/** JSON Schema (draft 2020-12) of a `SoapMapping`. */
export const SOAP_MAPPING_SCHEMA: JsonSchema = z.toJSONSchema(mapping) as JsonSchema

export const EMPTY_MAPPING: SoapMapping = { version: 1, revision: 1, operations: {} }

/** The mapping, or the problems of its form. */
export function parseMapping(document: unknown): SoapMapping | readonly MappingProblem[] {
  const parsed = mapping.safeParse(document, { error: invalidText })
  if (parsed.success) return parsed.data
  return parsed.error.issues.map(({ path, message }) => ({ at: pointer(path.map(String)), problem: message }))
}

export function pointer(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** @throws SoukError `invalid_request` with the problems in a member */
export function refuseMapping(problems: readonly MappingProblem[]): never {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  throw new SoukError('invalid_request', `The mapping is invalid: ${first?.at ?? ''} ${first?.problem ?? ''}${more}`, {
    members: { problems: problems.slice(0, 100) }
  })
}
