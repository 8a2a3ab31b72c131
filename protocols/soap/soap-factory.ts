import { isSoukError } from '../../lib/base/errors.ts'
import type { AdapterFactory, UpstreamConfig } from '../../lib/interface/adapter.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { diagnosis } from '../inspection.ts'
import { credentialsOf, isTelling } from '../upstream/auth.ts'
import { parseEndpoint } from '../upstream/target.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { targetsOf } from './wsdl/address.ts'
import { SOAP_MAPPING_SCHEMA } from './mapping/mapping.ts'
import type { SoapService } from './service.ts'
import type { EnvelopeAuth } from './message/own-blocks.ts'
import { isCurrent, mappingOf, openSnapshot } from './snapshot.ts'
import { SoapAdapter } from './soap-adapter.ts'
import { Translator } from './translator.ts'
import { inspectWsdl } from './wsdl-inspection.ts'
import { isHandedOver } from './wsdl/wsdl-source.ts'

/**
 * SOAP 1.1 and 1.2 by WSDL 1.1: document/literal, wrapped and bare, rpc/literal and rpc/encoded. Consumers post `{"operation": …,
 * …parameters}` and receive the content of the response as JSON. `encode.ts` and `operations.ts` document the mapping.
 */
export const soapFactory: AdapterFactory = {
  protocol: 'SOAP',

  async inspect(config, signal) {
    const { snapshot, description, warnings, missing, addresses } = await inspectWsdl(config, signal).catch(
      (error: unknown) => {
        throw diagnosis(error)
      }
    )
    const targets = addresses.map(targetsOf(config, addresses))
    const reached = isHandedOver(config) ? await probe(config, targets[0]?.url ?? config.endpoint, signal) : []
    const told = targets.map((target) => target.warning).filter((text) => text !== undefined)
    const all = [...warnings, ...told, ...reached]
    return { description, snapshot, warnings: [...new Set(all)], missing }
  },

  mapping: {
    schema: SOAP_MAPPING_SCHEMA,
    of: mappingOf,
    check: (snapshot, mapping) => descriptionWorker.run('checkWsdlMapping', { snapshot, mapping }),
    with: (snapshot, mapping, isKept = false) => descriptionWorker.run('mapWsdl', { snapshot, mapping, isKept })
  },

  async renewed(snapshot) {
    return isCurrent(snapshot) ? snapshot : descriptionWorker.run('renewWsdl', snapshot)
  },

  open(config, snapshot) {
    const { secrets } = credentialsOf(config.auth, parseEndpoint(config.endpoint))
    const { service: opened, ...published } = openSnapshot(snapshot)
    const service: SoapService = { ...opened, auth: authOf(config), secrets: secrets.filter(isTelling) }
    return new SoapAdapter(config, service, new Translator(service, snapshot), published)
  }
}

/** Undefined if the envelope contains no credentials, which is the usual case. */
function authOf({ auth }: UpstreamConfig): EnvelopeAuth | undefined {
  if (auth?.usernameToken === undefined && auth?.soapHeaders === undefined) return undefined
  const { usernameToken, soapHeaders } = auth
  return {
    ...(usernameToken === undefined ? {} : { usernameToken }),
    ...(soapHeaders === undefined ? {} : { soapHeaders })
  }
}

/** An uploaded WSDL does not show that the service runs. Any HTTP response does, even one that rejects GET. */
async function probe(config: UpstreamConfig, url: string, signal: AbortSignal): Promise<string[]> {
  const upstream = createUpstream({ ...config, endpoint: url })
  try {
    const response = await upstream.request({ method: 'GET', headers: [['accept', 'text/xml, */*;q=0.5']], signal })
    response.discard()
    const { status } = response
    if (status === 404 || status === 410)
      return [`The service responds with ${status} to a GET. Check that ${url} is its address.`]
    if (status !== 401 && status !== 403) return []
    const why = config.auth === undefined ? 'seems to require credentials (--auth-file)' : 'rejects these credentials'
    return [`The service responds with ${status}: it ${why}.`]
  } catch (error) {
    const told = diagnosis(error)
    // A redirect of a GET, for example to a page for people, says nothing about POST.
    if (isSoukError(told) && told !== error) return [told.message]
    throw told
  } finally {
    await upstream.close()
  }
}
