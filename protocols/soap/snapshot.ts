import { SoukError, isSoukError } from '../../lib/base/errors.ts'
import type { ApiDescription, Inspection, MappingProblem } from '../../lib/interface/adapter.ts'
import { describe } from './description.ts'
import { EMPTY_MAPPING, parseMapping, refuseMapping, type SoapMapping } from './mapping.ts'
import { type CompiledMapping, compileMapping } from './mapping-fields.ts'
import type { OperationPlan } from './operation.ts'
import { type SchemaIndex, fromIndex, indexOf } from './schema-index.ts'
import { compileAll, openService, planService, type ServicePlan, type SoapService } from './service.ts'
import { parseWsdlFiles, type WsdlDocument, type WsdlFile } from './wsdl-files.ts'
import { normalXml } from './xml-parse.ts'

/**
 * What a restart needs: the files as they were read, the provider's mapping, the description as it was published, and what
 * the files come to, so that nothing has to be parsed but what calls need. Its text is a line of JSON, then the files' texts.
 * Version 1 was JSON with the texts in it, and no plan.
 */
interface Head {
  readonly version: 2
  readonly mapping?: SoapMapping
  /** Names of header blocks that consumers neither see nor send. */
  readonly own?: readonly string[]
  readonly description: ApiDescription
  readonly plan: StoredPlan
  /** In the order of their texts; lengths in UTF-16 code units. */
  readonly files: ReadonlyArray<{ readonly url: string; readonly length: number }>
}

interface StoredPlan {
  /** Of these plans; the files are read again for one of another version. */
  readonly version: number
  readonly operations: ReadonlyArray<readonly [name: string, plan: OperationPlan]>
  readonly schemas: SchemaIndex
}

/** To count up with every change to `OperationPlan` or `SchemaIndex`, and to what is put into them. */
const PLAN_VERSION = 2

interface Snapshot {
  readonly files: readonly WsdlFile[]
  readonly mapping?: SoapMapping | undefined
  readonly own?: readonly string[] | undefined
  readonly description: ApiDescription
  /** Undefined when it has to be made from the files. */
  readonly plan: StoredPlan | undefined
}

/**
 * A new snapshot of files that were just read, with all that is worth telling about them.
 * @param own - names of header blocks that are the provider's, see `partBlocks`
 */
export function takeSnapshot(
  files: readonly WsdlFile[],
  documents: readonly WsdlDocument[],
  own: readonly string[] = []
): {
  readonly service: SoapService
  readonly snapshot: string
  readonly description: ApiDescription
  readonly warning: string | undefined
} {
  return shallow(() => {
    const plan = planService(documents)
    const service = openService(plan, own)
    compileAll(service)
    const { api, warning } = describe(service)
    const texts = files.map(({ url, text }) => ({ url, text: normalXml(text) }))
    const snapshot = written({ files: texts, own, description: api, plan: stored(plan, documents) })
    return { service, snapshot, description: api, warning }
  })
}

/** @throws SoukError `invalid_request` for a snapshot of another version, or none. */
export function openSnapshot(text: string): { readonly service: SoapService; readonly description: ApiDescription } {
  const snapshot = parseSnapshot(text)
  const { mapping, description } = snapshot
  const service = opened(snapshot)
  return { service: mapping === undefined ? service : mapped(service, mapping), description }
}

/** The provider's mapping in a registration's snapshot; an empty one when there is none. @throws SoukError `invalid_request` */
export function mappingOf(snapshot: string): SoapMapping {
  return parseSnapshot(snapshot).mapping ?? EMPTY_MAPPING
}

/** What about a mapping does not fit the WSDL of a snapshot; empty when all does. @throws SoukError `invalid_request` */
export function checkMapping(snapshot: string, mapping: unknown): readonly MappingProblem[] {
  const parsed = parseMapping(mapping)
  return 'version' in parsed ? mappingFor(opened(parseSnapshot(snapshot)), parsed).problems : parsed
}

/**
 * The snapshot with another mapping, and the description of the API with it: what a listing publishes from then on.
 * @throws SoukError `invalid_request` with the member `problems` when the mapping does not fit, or when its revision is not
 *   above that of the mapping before it
 */
export function withMapping(snapshot: string, mapping: unknown): Inspection {
  const parsed = parseMapping(mapping)
  if (!('version' in parsed)) return refuseMapping(parsed)
  const before = parseSnapshot(snapshot)
  if (before.mapping !== undefined && parsed.revision <= before.mapping.revision) {
    const { revision } = before.mapping
    refuseMapping([{ at: '/revision', problem: `The stored mapping is of revision ${revision}; count it up.` }])
  }
  return shallow(() => {
    const { plan, files } = planned(before)
    const service = opened({ ...before, plan, files })
    const { problems } = mappingFor(service, parsed)
    if (problems.length > 0) refuseMapping(problems)
    const { api, warning } = describe(mapped(service, parsed))
    const next = written({ files, mapping: parsed, own: before.own, description: api, plan })
    return { snapshot: next, description: api, warnings: warning === undefined ? [] : [warning] }
  })
}

function mapped(service: SoapService, mapping: SoapMapping): SoapService {
  return { ...service, mapping: mappingFor(service, mapping).operations }
}

function mappingFor(service: SoapService, mapping: SoapMapping): CompiledMapping {
  return compileMapping(service.operations, mapping)
}

function opened({ plan, files, own }: Pick<Snapshot, 'plan' | 'files' | 'own'>): SoapService {
  if (plan === undefined) return openService(planService(parseWsdlFiles(files)), own)
  return openService({ operations: new Map(plan.operations), schemas: fromIndex(plan.schemas, files) }, own)
}

function stored({ operations, schemas }: ServicePlan, documents: readonly WsdlDocument[]): StoredPlan {
  return { version: PLAN_VERSION, operations: [...operations], schemas: indexOf(schemas, documents) }
}

/** A plan also where the snapshot has none, or an older one. */
function planned({ plan, files }: Snapshot): { readonly plan: StoredPlan; readonly files: readonly WsdlFile[] } {
  if (plan !== undefined) return { plan, files }
  const documents = parseWsdlFiles(files)
  const texts = files.map(({ url, text }) => ({ url, text: normalXml(text) }))
  return { plan: stored(planService(documents), documents), files: texts }
}

function shallow<T>(compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (isSoukError(error) || !(error instanceof RangeError)) throw error
    throw new SoukError('invalid_request', 'The types of the WSDL are derived too deeply.', { cause: error })
  }
}

function written({ files, mapping, own = [], ...rest }: Snapshot & { readonly plan: StoredPlan }): string {
  const head: Head = {
    version: 2,
    ...rest,
    ...(mapping === undefined ? {} : { mapping }),
    ...(own.length === 0 ? {} : { own }),
    files: files.map(({ url, text }) => ({ url, length: text.length }))
  }
  return `${JSON.stringify(head)}\n${files.map(({ text }) => text).join('')}`
}

function parseSnapshot(text: string): Snapshot {
  const end = text.indexOf('\n')
  let head: Partial<Head> | (Partial<Snapshot> & { readonly version?: 1 }) | null
  try {
    head = JSON.parse(end === -1 ? text : text.slice(0, end)) as typeof head
  } catch (cause) {
    throw new SoukError('invalid_request', 'The stored WSDL cannot be read; register the API again.', { cause })
  }
  if (head?.description !== undefined && Array.isArray(head.files)) {
    if (head.version === 1) return { ...(head as Snapshot), plan: undefined }
    if (head.version === 2 && end !== -1) return withTexts(head as Head, text.slice(end + 1))
  }
  throw new SoukError('invalid_request', 'The stored WSDL is of another version; register the API again.')
}

function withTexts({ files, plan, description, mapping, own }: Head, texts: string): Snapshot {
  let at = 0
  const cut = files.map(({ url, length }) => ({ url, text: texts.slice(at, (at += length)) }))
  if (at !== texts.length) {
    throw new SoukError('invalid_request', 'The stored WSDL is not whole; register the API again.')
  }
  return { files: cut, mapping, own, description, plan: plan?.version === PLAN_VERSION ? plan : undefined }
}
