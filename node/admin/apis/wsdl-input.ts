import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import type { WsdlSource } from '../../../lib/interface/index.ts'
import { present } from '../../present.ts'

const text = z.string().min(1)

/**
 * Member `wsdl` of a registration: the WSDL of a SOAP API, as files by path or as one zip. Contents are base64, because each file
 * may declare its own charset.
 */
export const wsdlSchema = z.strictObject({
  files: z.record(text, z.string()).optional(),
  zip: text.optional(),
  entry: text.optional().describe('Path of the WSDL, if several files could be the WSDL.'),
  origins: z
    .array(text)
    .max(limits.WSDL_FILES_MAX)
    .optional()
    .describe('Additional origins from which imports may be read.'),
  incomplete: z.boolean().optional().describe('Publishes the API although documents that the WSDL imports are missing.')
})

export function wsdlOf(input: z.output<typeof wsdlSchema> | undefined): WsdlSource | undefined {
  return input === undefined ? undefined : present(input)
}
