import { SoukError } from '../../lib/index.ts'
import type {
  AdapterFactory,
  Inspection,
  JsonSchema,
  MappingProblem,
  MappingSupport
} from '../../lib/interface/index.ts'

/** What of a registration a mapping is about. */
interface Mapped {
  readonly name: string
  readonly snapshot: string
}

/** A mapping as its provider sees it: the document, and what such a document may say. */
export interface ShownMapping {
  readonly mapping: unknown
  readonly schema: JsonSchema
}

/** @throws SoukError `invalid_request` */
export function shownMapping(factory: AdapterFactory, { name, snapshot }: Mapped): ShownMapping {
  const support = supportOf(factory, name)
  return { mapping: support.of(snapshot), schema: support.schema }
}

/** @throws SoukError `invalid_request` */
export async function mappingProblems(
  factory: AdapterFactory,
  { name, snapshot }: Mapped,
  document: unknown
): Promise<readonly MappingProblem[]> {
  return supportOf(factory, name).check(snapshot, document)
}

/** @throws SoukError `invalid_request`, with the `problems` */
export async function remapped(
  factory: AdapterFactory,
  { name, snapshot }: Mapped,
  document: unknown
): Promise<Inspection> {
  return supportOf(factory, name).with(snapshot, document)
}

/**
 * An API that was read again, with the mapping it had before.
 * @throws SoukError `invalid_request` where that does not fit any more
 */
export async function keepingMapping(
  { mapping: support }: AdapterFactory,
  before: Mapped | undefined,
  inspection: Inspection
): Promise<Inspection> {
  if (support === undefined || before === undefined) return inspection
  const document = support.of(before.snapshot)
  if (isSame(document, support.of(inspection.snapshot))) return inspection
  const mapped = await support.with(inspection.snapshot, document, true)
  return { ...mapped, warnings: [...inspection.warnings, ...mapped.warnings] }
}

function supportOf({ protocol, mapping }: AdapterFactory, name: string): MappingSupport {
  if (mapping !== undefined) return mapping
  throw new SoukError('invalid_request', `${name} is a ${protocol} API: its JSON is its own, and is not mapped.`)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
