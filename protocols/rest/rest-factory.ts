import type { AdapterFactory, UpstreamMethod } from '../../lib/interface/adapter.ts'
import { diagnosis } from '../inspection.ts'
import { createUpstream } from '../upstream.ts'
import { REST_DESCRIPTION, restAdapter } from './rest-adapter.ts'

/**
 * REST: the JSON of a call goes to the endpoint, by POST as it is or by GET as query parameters, and the answer comes back
 * as it is, server-sent events as they arrive (spec section 4.2).
 */
export const restFactory: AdapterFactory = {
  protocol: 'REST',

  async inspect(config, signal) {
    // GET has no effect on the API, and any answer in HTTP shows that it is there.
    const upstream = createUpstream(config)
    try {
      const response = await upstream.request({ method: 'GET', headers: [['accept', '*/*']], signal })
      response.discard()
      return {
        description: REST_DESCRIPTION,
        snapshot: '',
        warnings: warningsFor(response.status, config.method ?? 'POST')
      }
    } catch (error) {
      throw diagnosis(error)
    } finally {
      await upstream.close()
    }
  },

  open: (config) => restAdapter(config)
}

function warningsFor(status: number, method: UpstreamMethod): string[] {
  if (status >= 500) return [`The endpoint is there, but answers ${status} to a GET.`]
  if (status === 402) return ['The endpoint asks for a payment of its own (402); calls answered so will fail.']
  if (status === 401 || status === 403) return [`The endpoint answers ${status}: it seems to want credentials.`]
  // For an endpoint that is only posted to, these say nothing.
  const isOff = method === 'GET' && (status === 404 || status === 405)
  return isOff ? [`The endpoint answers ${status} to a GET: check the address and the method.`] : []
}
