import { REPLACE_TRIES_MAX } from '../base/limits/plans.ts'
import type { Documents } from '../interface/store.ts'

/**
 * Changes a document that other processes also change. It writes the result of `to` only if the document is still as it
 * was read, and otherwise reads again. `to` returns undefined to change nothing.
 *
 * @returns 'busy' after `REPLACE_TRIES_MAX` conflicts; nothing is written then
 */
export async function changeDocument(
  documents: Documents,
  [collection, key]: readonly [collection: string, key: string],
  to: (before: string | undefined) => string | undefined,
  expiresAt?: number
): Promise<'written' | 'left' | 'busy'> {
  for (let tries = 0; tries < REPLACE_TRIES_MAX; tries++) {
    const before = await documents.get(collection, key)
    const value = to(before)
    if (value === undefined) return 'left'
    const isWritten =
      before === undefined
        ? await documents.insert(collection, key, value, expiresAt)
        : await documents.replace(collection, key, before, value, expiresAt)
    if (isWritten) return 'written'
  }
  return 'busy'
}
