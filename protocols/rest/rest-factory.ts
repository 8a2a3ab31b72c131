import { SoukError } from '../../lib/base/errors.ts'
import type {
  AdapterFactory,
  Inspection,
  UpstreamAuth,
  UpstreamConfig,
  UpstreamMethod
} from '../../lib/interface/adapter.ts'
import { descriptionWorker } from '../description-worker/description-worker.ts'
import { checkNotSoap, diagnosis } from '../inspection.ts'
import { originOf } from '../upstream/target.ts'
import { createUpstream } from '../upstream/upstream.ts'
import type { OpenapiSource as ImportSource } from './openapi/openapi-import.ts'
import { openapiTexts } from './openapi/openapi-source.ts'
import { restAdapter } from './rest-adapter.ts'
import { undescribed } from './undescribed.ts'

/** Methods for which a 404 or 405 to a GET is a warning. */
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * REST: a call names an operation of the provider's OpenAPI document, specifies its own request, or is sent to the endpoint
 * unchanged (docs/how-to/rest.md). The response is passed on unchanged, server-sent events as they arrive (spec section 4.2).
 *
 * @example
 * ```ts
 * import { once } from 'node:events'
 * import { createServer } from 'node:http'
 * import type { AddressInfo } from 'node:net'
 * import { createNode } from 'souk'
 * import { restFactory } from 'souk/protocols'
 *
 * const api = createServer((_request, response) => response.end('{"fair":true}')).listen(0, '127.0.0.1')
 * await once(api, 'listening')
 * const endpoint = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
 * const { snapshot } = await restFactory.inspect({ endpoint }, AbortSignal.timeout(5_000))
 * const node = await createNode()
 * await node.start()
 * await node.souk.serve({ name: 'weather', price: '0' }, restFactory.open({ endpoint }, snapshot))
 * const reply = await node.souk.call({ api: 'weather', body: { city: 'Oslo' } })
 * console.log(await reply.json()) // { fair: true }
 * await node.stop()
 * api.close()
 * ```
 */
export const restFactory: AdapterFactory = {
  protocol: 'REST',

  async inspect(config, signal) {
    checkNotSoap(config, 'REST')
    const imported = await importDocument(config, signal)
    // Validates the rest of the registration before network access.
    const adapter = restAdapter(config, imported.snapshot)
    const upstream = createUpstream(config)
    try {
      await adapter.probe?.(signal)
      // GET has no effect on the API, and any HTTP response shows that it is reachable.
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

  open(config, snapshot, description) {
    const isFollowed = config.openapi !== undefined && 'url' in config.openapi
    // A caller that leaves does not abort the read, because the next caller needs it.
    const read = isFollowed ? async () => (await importDocument(config, FOREVER)).snapshot : undefined
    return restAdapter(config, snapshot, { read, description })
  }
}

const FOREVER = new AbortController().signal

const NO_WEBSOCKETS =
  'The endpoint requires a WebSocket (HTTP 426), and WebSocket APIs are not supported. Register an API that responds to HTTP requests.'

async function importDocument(config: UpstreamConfig, signal: AbortSignal): Promise<Inspection> {
  const { openapi, endpoint, auth, servers = [], requestCookies = [] } = config
  if (openapi === undefined) return { description: undescribed(config), snapshot: '', warnings: [] }
  const origins = servers.map(originOf)
  const texts = await openapiTexts(config, (url, bytesMax) => fetched(url, config, bytesMax, signal), signal)
  const supplied = suppliedBy(auth, endpoint)
  return descriptionWorker.run(
    'importOpenapi',
    { ...texts, endpoint, origins, supplied, cookies: requestCookies },
    signal
  )
}

/** The parameters that every request has already. */
function suppliedBy(auth: UpstreamAuth | undefined, endpoint: string): NonNullable<ImportSource['supplied']> {
  const headers = Object.entries(auth?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  const cookies = headers.filter(([name]) => name === 'cookie').flatMap(([, value]) => value.split(';'))
  return {
    header: headers.map(([name]) => name),
    query: [...Object.keys(auth?.query ?? {}), ...new URL(endpoint).searchParams.keys()],
    cookie: cookies.map((cookie) => (cookie.split('=', 1)[0] ?? '').trim())
  }
}

/** The API's credentials are sent only to the API's own origin. */
async function fetched(
  url: string,
  config: UpstreamConfig,
  bytesMax: number,
  signal: AbortSignal
): Promise<Uint8Array> {
  const { auth, guard, timeoutMs, endpoint } = config
  const isSame = URL.parse(url)?.origin === URL.parse(endpoint)?.origin
  const upstream = createUpstream({
    endpoint: url,
    shownAs: `The server of the OpenAPI document, ${new URL(url).host},`,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(guard === undefined ? {} : { guard }),
    ...(auth === undefined || !isSame ? {} : { auth })
  })
  try {
    const accept = 'application/openapi+json, application/json, application/yaml, text/yaml, */*;q=0.5'
    const response = await upstream.request({ method: 'GET', headers: [['accept', accept]], signal })
    if (response.status !== 200) {
      response.discard()
      throw new SoukError('invalid_request', `The OpenAPI document’s address responds with HTTP ${response.status}.`, {
        source: 'upstream'
      })
    }
    return await response.bytes(bytesMax)
  } catch (error) {
    throw diagnosis(error)
  } finally {
    await upstream.close()
  }
}

function warningsFor(status: number, method: UpstreamMethod, { auth }: UpstreamConfig): string[] {
  if (status >= 500) return [`The endpoint is reachable, but responds with ${status} to a GET.`]
  if (status === 402) return ['The endpoint requires a payment of its own (402). Calls with this response will fail.']
  if (status === 401 || status === 403) {
    const why = auth === undefined ? 'seems to require credentials (--auth-file)' : 'rejects these credentials'
    return [`The endpoint responds with ${status}: it ${why}.`]
  }
  // For an endpoint that is only used by POST, these statuses mean nothing.
  const isOff = READS.has(method) && (status === 404 || status === 405)
  return isOff ? [`The endpoint responds with ${status} to a GET. Check the address and the method.`] : []
}
