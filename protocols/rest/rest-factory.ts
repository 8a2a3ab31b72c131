import { SoukError } from '../../lib/base/errors.ts'
import { OPENAPI_BYTES_MAX } from '../../lib/base/limits.ts'
import type { AdapterFactory, Inspection, UpstreamConfig, UpstreamMethod } from '../../lib/interface/adapter.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { checkNotSoap, diagnosis } from '../inspection.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { REST_DESCRIPTION, restAdapter } from './rest-adapter.ts'

/** Seen from the method that a listing uses: what these statuses say of a GET. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * REST: a call names an operation of the provider's OpenAPI document, or says its request itself, or goes to the endpoint as it is
 * (docs/how-to/rest.md); the answer comes back as it is, server-sent events as they arrive (spec section 4.2).
 */
export const restFactory: AdapterFactory = {
  protocol: 'REST',

  async inspect(config, signal) {
    checkNotSoap(config, 'REST')
    const imported = await importDocument(config, signal)
    // Looks at the rest of the registration before the network is asked.
    const adapter = restAdapter(config, imported.snapshot)
    const upstream = createUpstream(config)
    try {
      await adapter.probe?.(signal)
      // GET has no effect on the API, and any answer in HTTP shows that it is there.
      const response = await upstream.request({ method: 'GET', headers: [['accept', '*/*']], signal })
      response.discard()
      if (response.status === 426) throw new SoukError('invalid_request', NO_WEBSOCKETS)
      const isDescribed = imported.snapshot !== '' || config.explicit === true
      const method = isDescribed ? 'POST' : (config.method ?? 'POST')
      return { ...imported, warnings: [...imported.warnings, ...warningsFor(response.status, method, config)] }
    } catch (error) {
      throw diagnosis(error)
    } finally {
      await Promise.all([upstream.close(), adapter.close?.()])
    }
  },

  open(config, snapshot) {
    const isFollowed = config.openapi !== undefined && 'url' in config.openapi
    // Whoever waits for it may leave; the next one has use for it all the same.
    return isFollowed
      ? restAdapter(config, snapshot, async () => (await importDocument(config, FOREVER)).snapshot)
      : restAdapter(config, snapshot)
  }
}

const FOREVER = new AbortController().signal

const NO_WEBSOCKETS = 'The endpoint wants a WebSocket (HTTP 426), and WebSocket APIs cannot be sold here.'

async function importDocument(config: UpstreamConfig, signal: AbortSignal): Promise<Inspection> {
  const { openapi } = config
  if (openapi === undefined) return { description: REST_DESCRIPTION, snapshot: '', warnings: [] }
  const text = 'text' in openapi ? openapi.text : await fetched(openapi.url, config, signal)
  return descriptionWorker.run('importOpenapi', { text, endpoint: config.endpoint }, signal)
}

/** The API's credentials are shown to nobody but the API. */
async function fetched(url: string, config: UpstreamConfig, signal: AbortSignal): Promise<string> {
  const { auth, guard, timeoutMs, endpoint } = config
  const isSame = URL.parse(url)?.origin === URL.parse(endpoint)?.origin
  const upstream = createUpstream({
    endpoint: url,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(guard === undefined ? {} : { guard }),
    ...(auth === undefined || !isSame ? {} : { auth })
  })
  try {
    const accept = 'application/openapi+json, application/json, application/yaml, text/yaml, */*;q=0.5'
    const response = await upstream.request({ method: 'GET', headers: [['accept', accept]], signal })
    if (response.status !== 200) {
      response.discard()
      throw new SoukError('invalid_request', `The OpenAPI document’s address answers HTTP ${response.status}.`, {
        source: 'upstream'
      })
    }
    return Buffer.from(await response.bytes(OPENAPI_BYTES_MAX)).toString()
  } catch (error) {
    throw diagnosis(error)
  } finally {
    await upstream.close()
  }
}

function warningsFor(status: number, method: UpstreamMethod, { auth }: UpstreamConfig): string[] {
  if (status >= 500) return [`The endpoint is there, but answers ${status} to a GET.`]
  if (status === 402) return ['The endpoint asks for a payment of its own (402); calls answered so will fail.']
  if (status === 401 || status === 403) {
    const why = auth === undefined ? 'seems to want credentials (--auth-file)' : 'does not take these credentials'
    return [`The endpoint answers ${status}: it ${why}.`]
  }
  // For an endpoint that is only posted to, these say nothing.
  const isOff = READS.has(method) && (status === 404 || status === 405)
  return isOff ? [`The endpoint answers ${status} to a GET: check the address and the method.`] : []
}
