import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import type { WsdlSource } from '../../../lib/interface/index.ts'
import { present } from '../present.ts'

const text = z.string().min(1)

/**
 * Member `wsdl` of a registration: how the WSDL of a SOAP API gets in. Contents are base64, of files by their paths or of one
 * zip, so that a client sends the bytes as they are, whatever charset a file declares.
 */
export const wsdlSchema = z.strictObject({
  files: z.record(text, z.string()).optional(),
  zip: text.optional(),
  entry: text.optional().describe('Path of the WSDL, where several files could be it.'),
  origins: z
    .array(text)
    .max(limits.WSDL_FILES_MAX)
    .optional()
    .describe('Further origins that imports may be read from.')
})

export function wsdlOf(input: z.output<typeof wsdlSchema> | undefined): WsdlSource | undefined {
  return input === undefined ? undefined : present(input)
}
