import type { Command } from 'commander'
import type { ReplicaInput } from '../../admin/api.ts'
import { readWsdlFile } from './wsdl-file.ts'

/** Options that say how the WSDL of a SOAP API gets in. */
export interface WsdlFlags {
  readonly wsdlFile?: string
  readonly wsdlEntry?: string
  readonly wsdlOrigin?: string[]
}

export function addWsdlOptions(command: Command): Command {
  return command
    .option(
      '--wsdl-file <file>',
      'SOAP: the WSDL, with its imports beside it, or a zip; the endpoint is then the service’s'
    )
    .option('--wsdl-entry <path>', 'SOAP: which file of the zip is the WSDL, where several could be it')
    .option('--wsdl-origin <origin>', 'SOAP: imports may be read from there, too; may be repeated', collect)
}

/** What the admin API takes as `wsdl`. @throws UsageError for a file that cannot be read */
export async function wsdlInputOf({ wsdlFile, wsdlEntry, wsdlOrigin }: WsdlFlags): Promise<Pick<ReplicaInput, 'wsdl'>> {
  const wsdl: NonNullable<ReplicaInput['wsdl']> = {
    ...(wsdlFile === undefined ? {} : await readWsdlFile(wsdlFile)),
    ...(wsdlEntry === undefined ? {} : { entry: wsdlEntry }),
    ...(wsdlOrigin === undefined ? {} : { origins: wsdlOrigin })
  }
  return Object.keys(wsdl).length === 0 ? {} : { wsdl }
}

function collect(origin: string, before: string[] = []): string[] {
  return [...before, origin]
}
