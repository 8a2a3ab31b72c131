import { statfsSync } from 'node:fs'
import type { StoreView } from './admin/api.ts'
import type { ProfileLocation } from './profile/profile.ts'
import type { Stores } from './stores.ts'

/** The state of a node’s stores. */
export function storeView({ own, shared }: Stores, { directory }: ProfileLocation): StoreView {
  const refusal = own.refusal?.() ?? shared?.refusal?.()
  return {
    free_bytes: freeBytes(directory),
    shared: shared === undefined ? null : shared.refusal?.() === undefined ? 'connected' : 'away',
    refusal: refusal?.code ?? null
  }
}

function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return null
  }
}
