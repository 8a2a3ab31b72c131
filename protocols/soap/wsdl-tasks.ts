import { type ErrorCode, SoukError } from '../../lib/base/errors.ts'
import type { ApiDescription, Inspection, MappingProblem, UpstreamConfig } from '../../lib/interface/adapter.ts'
import { boundedWarnings } from '../description-worker/bounded-warnings.ts'
import { ownBlocks } from './message/own-blocks.ts'
import { checkOwnHeaders } from './message/own-headers.ts'
import { checkMapping, renewedSnapshot, takeSnapshot, withMapping } from './snapshot.ts'
import { explained } from './wsdl/wsdl-diagnosis.ts'
import type { LoadFile } from './wsdl/wsdl-files.ts'
import { readWsdlOf } from './wsdl/wsdl-source.ts'

/*
 * The WSDL tasks of the description process, see `description-worker/`. Only these tasks parse or compile a whole WSDL.
 */

/** A fetched file, or why it could not be fetched. */
export type FetchedFile = { readonly url: string } & (
  | { readonly bytes: Uint8Array; readonly type: string | undefined }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } }
)

export interface WsdlInput extends Pick<UpstreamConfig, 'endpoint' | 'wsdl' | 'auth'> {
  readonly fetched: readonly FetchedFile[]
}

/** The files still to fetch, or the result of reading the WSDL. */
export type WsdlOutput =
  | { readonly wanted: readonly string[] }
  | {
      readonly snapshot: string
      readonly description: ApiDescription
      readonly warnings: readonly string[]
      readonly missing: readonly string[]
      /** The addresses of the operations' services. */
      readonly addresses: ReadonlyArray<string | undefined>
    }

/**
 * Reads a WSDL as far as its files were fetched, because this process has no network access.
 * @throws SoukError `invalid_request`, `description_too_complex`
 */
export async function readWsdl({ fetched, ...config }: WsdlInput): Promise<WsdlOutput> {
  const files = new Map(fetched.map((file) => [file.url, file]))
  const wanted: string[] = []
  const load: LoadFile = async ({ href }, bytesMax) => {
    const file = files.get(href)
    if (file === undefined) {
      wanted.push(href)
      throw new SoukError('invalid_request', 'it was not fetched.')
    }
    if ('error' in file) throw new SoukError(file.error.code, file.error.message)
    if (file.bytes.length > bytesMax) throw new SoukError('response_too_large')
    return file
  }
  const read = await readWsdlOf(config, load).catch((error: unknown) => {
    if (wanted.length === 0) throw error
  })
  if (read === undefined || wanted.length > 0) return { wanted: [...new Set(wanted)] }
  const { auth } = config
  try {
    const { service, snapshot, description, warning } = takeSnapshot(read.files, read.documents, ownBlocks(auth))
    checkOwnHeaders(service.operations, service.types, auth)
    const addresses = [...service.operations.values()].map(({ address }) => address)
    const warnings = [...read.warnings, ...service.warnings, ...(warning === undefined ? [] : [warning])]
    return {
      snapshot,
      description,
      warnings: boundedWarnings(warnings),
      missing: boundedWarnings(read.missing),
      addresses
    }
  } catch (error) {
    throw explained(error, read.warnings)
  }
}

export interface MappingInput {
  readonly snapshot: string
  readonly mapping: unknown
  /** True if the API already had this mapping. */
  readonly isKept?: boolean
}

export function checkWsdlMapping({ snapshot, mapping }: MappingInput): readonly MappingProblem[] {
  return checkMapping(snapshot, mapping)
}

export function mapWsdl({ snapshot, mapping, isKept }: MappingInput): Inspection {
  return withMapping(snapshot, mapping, isKept)
}

export function renewWsdl(snapshot: string): string {
  return renewedSnapshot(snapshot)
}
