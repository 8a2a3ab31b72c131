import { limits } from '../../../lib/index.ts'
import type { Operation, Resolution, Souk } from '../../../lib/interface/index.ts'
import { listedOperations } from '../../describe.ts'

/** The part of a description that the console and the CLI show. */
export interface DescribedView {
  readonly methods: readonly Operation[]
  /** The schemas are read operation by operation. */
  readonly is_large: boolean
  readonly sdl: string | null
}

/** The listing can be read, and called, even while no node supplies its description. */
export async function describedView(
  souk: Pick<Souk, 'descriptions'>,
  api: Resolution,
  signal: AbortSignal
): Promise<DescribedView> {
  const { operations, described } = api.signed.manifest.api
  const is_large = described !== undefined
  try {
    const methods = await listedOperations(souk, api, limits.OPERATIONS_MAX, signal)
    return { methods, is_large, sdl: (await souk.descriptions.sdl(api, signal)) ?? null }
  } catch {
    signal.throwIfAborted()
    return { methods: operations, is_large, sdl: null }
  }
}
