import { SoukError } from '../../lib/base/errors.ts'
import { SOAP_SNAPSHOT_CHARS_MAX } from '../../lib/base/limits/soap.ts'
import type { ApiDescription, Inspection, MappingProblem } from '../../lib/interface/adapter.ts'
import { describe } from './description.ts'
import { EMPTY_MAPPING, parseMapping, refuseMapping, type SoapMapping } from './mapping/mapping.ts'
import { compileMapping, openMapping } from './mapping/mapping-fields.ts'
import type { OperationPlan } from './message/operation.ts'
import { type SchemaIndex, fromIndex, indexOf } from './wsdl/schema-index.ts'
import { compileAll, openService, planService, type SoapService } from './service.ts'
import { parseWsdlFiles, type WsdlDocument, type WsdlFile } from './wsdl/wsdl-files.ts'
import { normalXml } from './xml/text.ts'

/**
 * The data that a restart needs: the files as read, the provider's mapping, the published description, and the plan of the files.
 * Thus only the parts that calls need are parsed. The text of a snapshot is one line of JSON, then the texts of the files.
 * Version 1 was JSON that included the texts, without a plan.
 */
interface Head {
  readonly version: 2
  /** The plan's version, at a place that needs no parsing. Older snapshots lack it. */
  readonly planned?: number
  readonly mapping?: SoapMapping
  /** Sentences about the rules of the mapping that calls are not checked against. */
  readonly unchecked?: readonly string[]
  /** Names of header blocks that consumers neither see nor send. */
  readonly own?: readonly string[]
  readonly description: ApiDescription
  readonly plan: StoredPlan
  /** The files, in the order of their texts; lengths in UTF-16 code units. */
  readonly files: ReadonlyArray<{ readonly url: string; readonly length: number }>
}

interface StoredPlan {
  /** The version of the plan's format. The files are read again for a plan of another version. */
  readonly version: number
  readonly operations: ReadonlyArray<readonly [name: string, plan: OperationPlan]>
  readonly schemas: SchemaIndex
  /** Unsupported patterns, which only the service checks; see `PatternBook`. */
  readonly unchecked: readonly string[]
}

/**
 * Increase with every change of `OperationPlan` or `SchemaIndex`, of their contents, and of a limit for WSDLs. A plan of the
 * current version is within the limits, so that a process that serves calls may open it.
 */
const PLAN_VERSION = 7
const CURRENT = `{"version":2,"planned":${PLAN_VERSION},`

interface Snapshot {
  readonly files: readonly WsdlFile[]
  readonly mapping?: SoapMapping | undefined
  readonly unchecked?: readonly string[] | undefined
  readonly own?: readonly string[] | undefined
  readonly description: ApiDescription
  /** Undefined if it has to be made from the files. */
  readonly plan: StoredPlan | undefined
}

/**
 * Takes a snapshot of files that were just read, with the description and warnings.
 * @param own names of the provider's header blocks, see `partBlocks`
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
  const { service, plan } = read(documents, own)
  const { api, warning } = describe(service)
  const snapshot = written({ files: normal(files), own, description: api, plan })
  return { service, snapshot, description: api, warning }
}

/**
 * Opens the result of `renewedSnapshot`. Parses and compiles only when a call needs it.
 * @throws SoukError `invalid_request` for a snapshot of another version, or an invalid one.
 */
export function openSnapshot(text: string): {
  readonly service: SoapService
  readonly description: ApiDescription
  readonly warnings: readonly string[]
} {
  const { mapping, unchecked = [], description, plan, files, own } = parseSnapshot(text)
  if (plan === undefined) throw new SoukError('invalid_request', 'The stored WSDL was read by another version of Souk.')
  const service = opened({ plan, files, own })
  return {
    service: mapping === undefined ? service : { ...service, mapping: openMapping(service.operations, mapping) },
    description,
    warnings: unchecked
  }
}

/** True if a snapshot can be opened without renewal. */
export function isCurrent(text: string): boolean {
  return text.startsWith(CURRENT)
}

/**
 * Renews a snapshot from the files in it, as this version would write it. Calls are not checked against patterns of the mapping
 * that can no longer be matched.
 * @throws SoukError `invalid_request`, `description_too_complex`, as when the WSDL is registered
 */
export function renewedSnapshot(text: string): string {
  const before = parseSnapshot(text)
  if (before.plan !== undefined) return text
  const { mapping, own } = before
  const { service, plan, files } = planned(before)
  const { mapped, unchecked } = mapping === undefined ? { mapped: service } : withRules(service, mapping, true)
  return written({ files, mapping, unchecked, own, description: describe(mapped).api, plan })
}

/** The provider's mapping in a registration's snapshot; an empty one if there is none. @throws SoukError `invalid_request` */
export function mappingOf(snapshot: string): SoapMapping {
  return parseSnapshot(snapshot).mapping ?? EMPTY_MAPPING
}

/** The problems of a mapping with a snapshot’s WSDL and its mapping; empty if there are none. @throws SoukError `invalid_request` */
export function checkMapping(snapshot: string, mapping: unknown): readonly MappingProblem[] {
  const parsed = parseMapping(mapping)
  if (!('version' in parsed)) return parsed
  const before = parseSnapshot(snapshot)
  const { problems, unmatched } = compileMapping(planned(before).service.operations, parsed)
  return [...revisionProblems(before, parsed), ...problems, ...unmatched]
}

function revisionProblems({ mapping }: Snapshot, { revision }: SoapMapping): readonly MappingProblem[] {
  if (mapping === undefined || revision > mapping.revision) return []
  return [{ at: '/revision', problem: `The stored mapping has revision ${mapping.revision}. Use a higher one.` }]
}

/**
 * Replaces the mapping of a snapshot. Returns the new snapshot and the description that the listing publishes from then on.
 * @param isKept - true if the API already had this mapping: patterns that cannot be matched then give a warning instead of an
 * error
 * @throws SoukError `invalid_request` with the member `problems` if the mapping does not fit, or if its revision is not above
 * that of the previous mapping
 */
export function withMapping(snapshot: string, mapping: unknown, isKept = false): Inspection {
  const parsed = parseMapping(mapping)
  if (!('version' in parsed)) return refuseMapping(parsed)
  const before = parseSnapshot(snapshot)
  const outdated = revisionProblems(before, parsed)
  if (outdated.length > 0) refuseMapping(outdated)
  const { service, plan, files } = planned(before)
  const { mapped, unchecked } = withRules(service, parsed, isKept)
  const { api, warning } = describe(mapped)
  const next = written({ files, mapping: parsed, unchecked, own: before.own, description: api, plan })
  return { snapshot: next, description: api, warnings: [...(warning === undefined ? [] : [warning]), ...unchecked] }
}

/** @throws SoukError `invalid_request` with the member `problems` if the mapping does not fit */
function withRules(
  service: SoapService,
  mapping: SoapMapping,
  isKept: boolean
): { readonly mapped: SoapService; readonly unchecked: readonly string[] } {
  const { operations, problems, unmatched } = compileMapping(service.operations, mapping)
  if (problems.length > 0 || (unmatched.length > 0 && !isKept)) refuseMapping([...problems, ...unmatched])
  return { mapped: { ...service, mapping: operations }, unchecked: uncheckedRules(unmatched) }
}

const UNCHECKED_SHOWN = 20

function uncheckedRules(unmatched: readonly MappingProblem[]): readonly string[] {
  const rules = unmatched.slice(0, UNCHECKED_SHOWN).map(uncheckedRule)
  const more = unmatched.length - rules.length
  return more === 0 ? rules : [...rules, `${more} further patterns of the mapping are not checked.`]
}

function uncheckedRule({ at, problem }: MappingProblem): string {
  return `The mapping at ${at}: ${problem} Calls are not checked against it; the next change of the mapping has to replace it.`
}

function opened({ plan, files, own }: Pick<Snapshot, 'files' | 'own'> & { readonly plan: StoredPlan }): SoapService {
  const { operations, schemas, unchecked } = plan
  return openService({ operations: new Map(operations), schemas: fromIndex(schemas, files), unchecked }, own)
}

/** Compiles the whole WSDL, so that all its problems are known and its cost is bounded. */
function read(
  documents: readonly WsdlDocument[],
  own: readonly string[] | undefined
): { readonly service: SoapService; readonly plan: StoredPlan } {
  const { operations, schemas, warnings } = planService(documents)
  const service = openService({ operations, schemas, warnings }, own)
  compileAll(service)
  const { unchecked } = service.types.patterns
  const plan = { version: PLAN_VERSION, operations: [...operations], schemas: indexOf(schemas, documents), unchecked }
  return { service, plan }
}

/** Makes a plan if the snapshot has none, or an older one. */
function planned({ plan, files, own }: Snapshot): {
  readonly service: SoapService
  readonly plan: StoredPlan
  readonly files: readonly WsdlFile[]
} {
  if (plan !== undefined) return { service: opened({ plan, files, own }), plan, files }
  return { ...read(parseWsdlFiles(files), own), files: normal(files) }
}

function normal(files: readonly WsdlFile[]): WsdlFile[] {
  return files.map(({ url, text }) => ({ url, text: normalXml(text) }))
}

function written({
  files,
  mapping,
  unchecked = [],
  own = [],
  ...rest
}: Snapshot & { readonly plan: StoredPlan }): string {
  const head: Head = {
    version: 2,
    planned: PLAN_VERSION,
    ...rest,
    ...(mapping === undefined ? {} : { mapping }),
    ...(unchecked.length === 0 ? {} : { unchecked }),
    ...(own.length === 0 ? {} : { own }),
    files: files.map(({ url, text }) => ({ url, length: text.length }))
  }
  const snapshot = `${JSON.stringify(head)}\n${files.map(({ text }) => text).join('')}`
  if (snapshot.length <= SOAP_SNAPSHOT_CHARS_MAX) return snapshot
  const detail = `The compiled plan of the WSDL is larger than ${SOAP_SNAPSHOT_CHARS_MAX} characters.`
  throw new SoukError('description_too_complex', detail)
}

function parseSnapshot(text: string): Snapshot {
  const end = text.indexOf('\n')
  let head: Partial<Head> | (Partial<Snapshot> & { readonly version?: 1 }) | null
  try {
    head = JSON.parse(end === -1 ? text : text.slice(0, end)) as typeof head
  } catch (cause) {
    throw new SoukError('invalid_request', 'The stored WSDL cannot be read. Register the API again.', { cause })
  }
  if (head?.description !== undefined && Array.isArray(head.files)) {
    if (head.version === 1) return { ...(head as Snapshot), plan: undefined }
    if (head.version === 2 && end !== -1) return withTexts(head as Head, text.slice(end + 1))
  }
  throw new SoukError('invalid_request', 'The stored WSDL has another version. Register the API again.')
}

function withTexts({ files, plan, description, mapping, unchecked, own }: Head, texts: string): Snapshot {
  let at = 0
  const cut = files.map(({ url, length }) => ({ url, text: texts.slice(at, (at += length)) }))
  if (at !== texts.length) {
    throw new SoukError('invalid_request', 'The stored WSDL is incomplete. Register the API again.')
  }
  return { files: cut, mapping, unchecked, own, description, plan: plan?.version === PLAN_VERSION ? plan : undefined }
}
