import { limits, SoukError } from '../lib/index.ts'
import type { Operation, OperationSummary, Resolution, Souk } from '../lib/interface/index.ts'

type Reader = Pick<Souk, 'descriptions'>

/** One operation of an API. @throws SoukError `operation_not_found`, and errors of `Descriptions` */
export async function operationOf(
  { descriptions }: Reader,
  api: Resolution,
  name: string,
  signal: AbortSignal
): Promise<Operation> {
  const [operation] = await descriptions.described(api, [name], { signal })
  if (operation !== undefined) return operation
  const shown = name.slice(0, limits.LABEL_CHARS_MAX)
  throw new SoukError('operation_not_found', `${api.signed.manifest.name} has no operation "${shown}".`)
}

/** Operations of a list: complete where the manifest describes them, else their names and summaries. */
export async function listedOperations(
  { descriptions }: Reader,
  api: Resolution,
  limit: number,
  signal: AbortSignal
): Promise<readonly Operation[]> {
  const { operations, described } = api.signed.manifest.api
  if (described === undefined) return operations
  return (await descriptions.operations(api, { limit }, signal)).map(summarized)
}

const summarized = ({ name, summary }: OperationSummary): Operation =>
  summary === undefined ? { name } : { name, description: summary }
