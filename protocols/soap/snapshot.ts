import { SoukError, isSoukError } from '../../lib/base/errors.ts'
import type { ApiDescription, Inspection, MappingProblem } from '../../lib/interface/adapter.ts'
import { describe } from './description.ts'
import { EMPTY_MAPPING, parseMapping, refuseMapping, type SoapMapping } from './mapping.ts'
import { type CompiledMapping, compileMapping } from './mapping-fields.ts'
import { compileAll, openService, type SoapService } from './service.ts'
import { parseWsdlFiles, type WsdlDocument, type WsdlFile } from './wsdl-files.ts'

/** What a restart needs: the files as they were read, the provider's mapping, and the description as it was published. */
interface Snapshot {
  readonly version: 1
  readonly files: readonly WsdlFile[]
  readonly mapping?: SoapMapping
  readonly description: ApiDescription
}

/** A new snapshot of files that were just read, with all that is worth telling about them. */
export function takeSnapshot(
  files: readonly WsdlFile[],
  documents: readonly WsdlDocument[]
): {
  readonly service: SoapService
  readonly snapshot: string
  readonly description: ApiDescription
  readonly warning: string | undefined
} {
  const service = compiled(documents, true)
  const { api, warning } = describe(service)
  const snapshot: Snapshot = { version: 1, files, description: api }
  return { service, snapshot: JSON.stringify(snapshot), description: api, warning }
}

/** @throws SoukError `invalid_request` for a snapshot of another version, or none. */
export function openSnapshot(text: string): { readonly service: SoapService; readonly description: ApiDescription } {
  const { files, mapping, description } = parseSnapshot(text)
  const service = compiled(parseWsdlFiles(files), false)
  return { service: mapping === undefined ? service : mapped(service, mapping), description }
}

/** The provider's mapping in a registration's snapshot; an empty one when there is none. @throws SoukError `invalid_request` */
export function mappingOf(snapshot: string): SoapMapping {
  return parseSnapshot(snapshot).mapping ?? EMPTY_MAPPING
}

/** What about a mapping does not fit the WSDL of a snapshot; empty when all does. @throws SoukError `invalid_request` */
export function checkMapping(snapshot: string, mapping: unknown): readonly MappingProblem[] {
  const parsed = parseMapping(mapping)
  return 'version' in parsed
    ? mappingFor(compiled(parseWsdlFiles(parseSnapshot(snapshot).files), false), parsed).problems
    : parsed
}

/**
 * The snapshot with another mapping, and the description of the API with it: what a listing publishes from then on.
 * @throws SoukError `invalid_request` with the member `problems` when the mapping does not fit, or when its revision is not
 *   above that of the mapping before it
 */
export function withMapping(snapshot: string, mapping: unknown): Inspection {
  const parsed = parseMapping(mapping)
  if (!('version' in parsed)) return refuseMapping(parsed)
  const { files, mapping: before } = parseSnapshot(snapshot)
  if (before !== undefined && parsed.revision <= before.revision) {
    refuseMapping([{ at: '/revision', problem: `The stored mapping is of revision ${before.revision}; count it up.` }])
  }
  const service = compiled(parseWsdlFiles(files), true)
  const { problems } = mappingFor(service, parsed)
  if (problems.length > 0) refuseMapping(problems)
  const { api, warning } = describe(mapped(service, parsed))
  const next: Snapshot = { version: 1, files, mapping: parsed, description: api }
  return { snapshot: JSON.stringify(next), description: api, warnings: warning === undefined ? [] : [warning] }
}

function mapped(service: SoapService, mapping: SoapMapping): SoapService {
  return { ...service, mapping: mappingFor(service, mapping).operations }
}

function mappingFor(service: SoapService, mapping: SoapMapping): CompiledMapping {
  return compileMapping(service.operations, mapping)
}

function compiled(documents: readonly WsdlDocument[], whole: boolean): SoapService {
  try {
    const service = openService(documents)
    if (whole) compileAll(service)
    return service
  } catch (error) {
    if (isSoukError(error) || !(error instanceof RangeError)) throw error
    throw new SoukError('invalid_request', 'The types of the WSDL are derived too deeply.', { cause: error })
  }
}

function parseSnapshot(snapshot: string): Snapshot {
  try {
    const parsed = JSON.parse(snapshot) as Partial<Snapshot> | null
    if (parsed?.version === 1 && Array.isArray(parsed.files) && parsed.description !== undefined)
      return parsed as Snapshot
  } catch (cause) {
    throw new SoukError('invalid_request', 'The stored WSDL cannot be read; register the API again.', { cause })
  }
  throw new SoukError('invalid_request', 'The stored WSDL is of another version; register the API again.')
}
