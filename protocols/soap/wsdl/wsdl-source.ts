import { SoukError } from '../../../lib/base/errors.ts'
import type { UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { originOf, parseEndpoint } from '../../upstream/target.ts'
import { openBundle } from './wsdl-bundle.ts'
import { bundleUrl, pathIn } from './wsdl-bundle-path.ts'
import { type LoadFile, readWsdlFiles, type WsdlDocuments } from './wsdl-files.ts'

/**
 * Reads the WSDL of a registration: the response of its endpoint, or the upload. Imports come from the upload, from the
 * endpoint's origin, and from the origins that the registration lists.
 *
 * @param fetched loads files that were not uploaded
 * @throws SoukError `invalid_request` and the errors of `fetched`
 */
export async function readWsdlOf(
  config: Pick<UpstreamConfig, 'endpoint' | 'wsdl'>,
  fetched: LoadFile
): Promise<WsdlDocuments> {
  const endpoint = parseEndpoint(config.endpoint)
  const { origins = [] } = config.wsdl ?? {}
  const allowed = new Set([endpoint.origin, ...origins.map(originOf)])
  const bundle = await openBundle(config.wsdl ?? {})
  if (bundle === undefined) return readWsdlFiles(endpoint, fetched, { admits: ({ origin }) => allowed.has(origin) })

  const load: LoadFile = async (url, bytesMax) => {
    const file = url.protocol === 'file:' ? bundle.read(pathIn(url)) : bundle.named(url)
    if (file !== undefined) return { bytes: await file(bytesMax), type: undefined }
    if (url.protocol !== 'file:') return fetched(url, bytesMax)
    throw new SoukError('invalid_request', 'it is not among the uploaded files.')
  }
  const admits = (url: URL) => url.protocol === 'file:' || bundle.named(url) !== undefined || allowed.has(url.origin)
  return readWsdlFiles(bundleUrl(bundle.entry), load, { admits })
}

/** True if the WSDL was uploaded, so that the endpoint is the service's address. */
export function isHandedOver({ wsdl }: UpstreamConfig): boolean {
  return wsdl?.files !== undefined || wsdl?.zip !== undefined
}
