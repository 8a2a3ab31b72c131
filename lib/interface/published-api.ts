import type { Hex } from '../base/hex.ts'
import type { ApiDescription } from './adapter.ts'

/**
 * Root of the documents that describe an API. The leaves of its Merkle tree are, in order: pages of operation names and
 * summaries, one document per operation, the parts of the SDL, and the schemas that operations share.
 */
export interface DescriptionRoot {
  /** Root hash of the Merkle tree (RFC 9162, SHA-256). */
  readonly root: Hex
  /** Number of all documents. */
  readonly documents: number
  readonly operations: number
  readonly sdlParts: number
}

/** The description in a manifest. */
export interface PublishedApi extends Omit<ApiDescription, 'definitions'> {
  /**
   * Absent: `operations` and `sdl` are complete. Present: the documents under this root describe the API, and
   * `operations` holds names at most.
   */
  readonly described?: DescriptionRoot
}

/** Number of operations of an API, from its manifest alone. */
export const operationCount = ({ operations, described }: PublishedApi): number =>
  described?.operations ?? operations.length
