import type { Command } from 'commander'
import type { ReplicaInput } from '../../admin/api.ts'
import { readWsdlFile } from './wsdl-file.ts'

/** Options for the WSDL of a SOAP API. */
export interface WsdlFlags {
  readonly wsdlFile?: string
  readonly wsdlEntry?: string
  readonly wsdlOrigin?: string[]
  readonly wsdlIncomplete?: boolean
}

export const WSDL_INCOMPLETE = [
  '--wsdl-incomplete',
  'SOAP: publish the API although documents that its WSDL imports are missing'
] as const

export function addWsdlOptions(command: Command): Command {
  return command
    .option(
      '--wsdl-file <file>',
      'SOAP: a WSDL with its imports in the same folder, or a zip; --endpoint is then the service’s URL'
    )
    .option('--wsdl-entry <path>', 'SOAP: path of the WSDL in the zip, if several files could be it')
    .option('--wsdl-origin <origin>', 'SOAP: additional origin for imports; may be repeated', collect)
    .option(...WSDL_INCOMPLETE)
}

/** Member `wsdl` of the request. @throws UsageError if a file cannot be read */
export async function wsdlInputOf(flags: WsdlFlags): Promise<Pick<ReplicaInput, 'wsdl'>> {
  const { wsdlFile, wsdlEntry, wsdlOrigin, wsdlIncomplete } = flags
  const wsdl: NonNullable<ReplicaInput['wsdl']> = {
    ...(wsdlFile === undefined ? {} : await readWsdlFile(wsdlFile)),
    ...(wsdlEntry === undefined ? {} : { entry: wsdlEntry }),
    ...(wsdlOrigin === undefined ? {} : { origins: wsdlOrigin }),
    ...(wsdlIncomplete === undefined ? {} : { incomplete: wsdlIncomplete })
  }
  return Object.keys(wsdl).length === 0 ? {} : { wsdl }
}

function collect(origin: string, before: string[] = []): string[] {
  return [...before, origin]
}
