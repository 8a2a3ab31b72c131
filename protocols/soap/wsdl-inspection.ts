import { type ErrorCode, isSoukError } from '../../lib/base/errors.ts'
import { WSDL_BYTES_MAX } from '../../lib/base/limits/soap.ts'
import type { UpstreamConfig } from '../../lib/interface/adapter.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { parseEndpoint } from '../upstream/target.ts'
import { fetching } from './wsdl/wsdl-fetch.ts'
import { isHandedOver } from './wsdl/wsdl-source.ts'
import type { FetchedFile, WsdlOutput } from './wsdl-tasks.ts'

/**
 * Fetches a WSDL with its imports and has it read in the description process. That process names the files to fetch until it has all
 * of them.
 *
 * @throws SoukError `invalid_request`, `description_too_complex`, and those of `Upstream.request`
 */
export async function inspectWsdl(
  config: UpstreamConfig,
  signal: AbortSignal
): Promise<Exclude<WsdlOutput, { readonly wanted: unknown }>> {
  const load = fetching(config, signal)
  const { endpoint, wsdl, auth } = config
  const first = isHandedOver(config) ? undefined : parseEndpoint(endpoint).href
  const fetched: FetchedFile[] = []
  let bytesLeft = WSDL_BYTES_MAX
  for (;;) {
    const input = {
      endpoint,
      fetched,
      ...(wsdl === undefined ? {} : { wsdl }),
      ...(auth === undefined ? {} : { auth })
    }
    const output = await descriptionWorker.run('readWsdl', input, signal)
    if (!('wanted' in output)) return output
    for (const url of output.wanted) {
      const file = await load(new URL(url), bytesLeft).then(
        ({ bytes, type }): FetchedFile => ({ url, bytes, type }),
        (error: unknown): FetchedFile => ({ url, error: url === first ? raised(error) : told(error) })
      )
      if ('bytes' in file) bytesLeft = Math.max(0, bytesLeft - file.bytes.length)
      fetched.push(file)
    }
  }
}

/** The error of an unavailable import becomes a warning. */
function told(error: unknown): { readonly code: ErrorCode; readonly message: string } {
  if (!isSoukError(error) || error.code === 'call_interrupted') throw error
  const { code, message } = error
  return { code, message }
}

function raised(error: unknown): never {
  throw error
}
