import { SoukError } from '../../lib/base/errors.ts'
import type { RestApi } from './openapi/rest-api.ts'

/** The data of an imported document that a restart needs. The published description is made of it again. */
export interface Snapshot {
  readonly version: 1
  readonly api: RestApi
  /**
   * Sentences about the parts of the document that calls are not checked against. Absent if there are none, or if an earlier
   * version wrote the snapshot.
   */
  readonly unchecked?: readonly string[]
}

export function writeSnapshot(api: RestApi, unchecked: readonly string[]): string {
  const snapshot: Snapshot = { version: 1, api, ...(unchecked.length === 0 ? {} : { unchecked }) }
  return JSON.stringify(snapshot)
}

/** Undefined if no document was imported. @throws SoukError `invalid_request` */
export function readSnapshot(text: string): Snapshot | undefined {
  if (text === '') return undefined
  try {
    const snapshot = JSON.parse(text) as Partial<Snapshot> | null
    if (snapshot?.version === 1 && snapshot.api !== undefined) {
      return snapshot as Snapshot
    }
  } catch (cause) {
    throw new SoukError('invalid_request', 'The stored OpenAPI document cannot be read; register the API again.', {
      cause
    })
  }
  throw new SoukError('invalid_request', 'The stored OpenAPI document is of another version; register the API again.')
}
