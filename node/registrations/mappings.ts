import { SoukError } from '../../lib/index.ts'
import type {
  AdapterFactory,
  Inspection,
  JsonSchema,
  MappingProblem,
  MappingSupport
} from '../../lib/interface/index.ts'

/** The part of a registration that its mapping needs. */
interface Mapped {
  readonly name: string
  readonly snapshot: string
}

/** A mapping document, and the schema of such documents. */
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
 * Reads an API again with its previous mapping.
 * @throws SoukError `invalid_request` if the mapping no longer fits
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
  return { ...inspection, ...mapped, warnings: [...inspection.warnings, ...mapped.warnings] }
}

function supportOf({ protocol, mapping }: AdapterFactory, name: string): MappingSupport {
  if (mapping !== undefined) return mapping
  throw new SoukError('invalid_request', `${name} is a ${protocol} API, which has no mapping.`)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
