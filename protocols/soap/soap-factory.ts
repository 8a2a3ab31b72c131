import { SoukError } from '../../lib/base/errors.ts'
import type { AdapterFactory, UpstreamConfig } from '../../lib/interface/adapter.ts'
import { diagnosis } from '../inspection.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { parseEndpoint } from '../upstream/target.ts'
import { addressOf } from './address.ts'
import { SOAP_MAPPING_SCHEMA } from './mapping.ts'
import { checkMapping, mappingOf, openSnapshot, takeSnapshot, withMapping } from './snapshot.ts'
import { SoapAdapter } from './soap-adapter.ts'
import { Translator } from './translator.ts'
import { type LoadFile, readWsdlFiles } from './wsdl-files.ts'
import { XmlError } from './xml-error.ts'
import { decodeXml } from './xml-text.ts'

/**
 * SOAP 1.1 and 1.2 by WSDL 1.1: document/literal, wrapped and bare, rpc/literal and rpc/encoded. Consumers post
 * `{"operation": …, …parameters}` and get the content of the answer as JSON; `encode.ts` and `operations.ts` say how the
 * two map.
 */
export const soapFactory: AdapterFactory = {
  protocol: 'SOAP',

  async inspect(config, signal) {
    const endpoint = parseEndpoint(config.endpoint)
    const { files, documents, warnings } = await readWsdlFiles(endpoint, loader(config, signal)).catch(
      (error: unknown) => {
        throw diagnosis(error)
      }
    )
    const { service, snapshot, description, warning } = takeSnapshot(files, documents)
    const addresses = [...service.operations.values()].map(({ address }) => addressOf(endpoint, address).warning)
    const all = [...warnings, ...service.warnings, ...addresses, warning].filter((text) => text !== undefined)
    return { description, snapshot, warnings: [...new Set(all)] }
  },

  mapping: { schema: SOAP_MAPPING_SCHEMA, of: mappingOf, check: checkMapping, with: withMapping },

  open(config, snapshot) {
    parseEndpoint(config.endpoint)
    const { service: opened, description } = openSnapshot(snapshot)
    const service = { ...opened, usernameToken: config.auth?.usernameToken }
    return new SoapAdapter(config, service, new Translator(service, snapshot), description)
  }
}

function loader(config: UpstreamConfig, signal: AbortSignal): LoadFile {
  return async (url, bytesMax) => {
    const upstream = createUpstream({ ...config, endpoint: url.href })
    try {
      const response = await upstream.request({
        method: 'GET',
        headers: [['accept', 'text/xml, application/xml, application/wsdl+xml, */*;q=0.5']],
        signal
      })
      const { status, headers } = response
      if (status !== 200) {
        response.discard()
        throw new SoukError('invalid_request', refusal(url, status), { source: 'upstream' })
      }
      const bytes = await response.bytes(bytesMax)
      const type = headers.find(([name]) => name === 'content-type')?.[1]
      return { text: decode(bytes, type, url), bytes: bytes.length }
    } finally {
      await upstream.close()
    }
  }
}

function decode(bytes: Uint8Array, type: string | undefined, url: URL): string {
  try {
    return decodeXml(bytes, type)
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    throw new SoukError('invalid_request', `What ${url.pathname}${url.search} answers ${error.message}.`, {
      cause: error
    })
  }
}

/** What a provider can do about an answer that is no WSDL. */
function refusal(url: URL, status: number): string {
  const where = `${url.origin}${url.pathname}${url.search}`
  if (status === 401 || status === 403) {
    return `${where} answers HTTP ${status}: the WSDL wants a login. Register it with credentials, or let this node read it without.`
  }
  if (status === 404 || status === 410) {
    return `${where} answers HTTP ${status}: there is nothing. The address of a WSDL usually ends with ?wsdl.`
  }
  return `${where} answers HTTP ${status} instead of a WSDL.`
}
