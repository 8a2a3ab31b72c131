import type { ApiDescription, Operation } from './adapter.ts'
import type { Resolution } from './directory.ts'
import type { OperationSummary } from './operation-summary.ts'

export interface OperationRange {
  /** Index of the first operation. Default 0. */
  readonly from?: number
  /** Default: all. */
  readonly limit?: number
}

/**
 * Reads descriptions: from the manifest, this node, or a peer. Documents of peers are checked against the root in the
 * manifest and cached. Their content is the provider's, so readers must treat it as untrusted.
 *
 * All methods throw SoukError `owner_unreachable` when no peer supplied a valid document, `response_too_large` for documents above
 * their limit, and `lookup_timeout`.
 */
export interface Descriptions {
  /** Names and summaries, in the provider's order. */
  operations(api: Resolution, range: OperationRange, signal: AbortSignal): Promise<readonly OperationSummary[]>
  /**
   * Operations in the order of `names`, with complete schemas: shared schemas are in `$defs`. A shared schema above
   * `bytesMax` of one schema is replaced by one that accepts anything. Unknown names are left out.
   */
  described(api: Resolution, names: readonly string[], options: DescribedOptions): Promise<readonly Operation[]>
  /**
   * All operations, with shared schemas in `definitions`, and without the SDL.
   * @param bytesMax - of their documents. Default `LISTING_DESCRIPTION_BYTES_MAX`
   */
  whole(api: Resolution, signal: AbortSignal, bytesMax?: number): Promise<ApiDescription>
  /** The schema of a GraphQL API. */
  sdl(api: Resolution, signal: AbortSignal): Promise<string | undefined>
}

export interface DescribedOptions {
  readonly signal: AbortSignal
  /** Bytes of one schema as JSON. Default and maximum `DESCRIBED_SCHEMA_BYTES_MAX`. */
  readonly bytesMax?: number
  /** Leaves out the schemas of responses, and does not fetch the schemas that only they share. Default false. */
  readonly isInputOnly?: boolean
}
