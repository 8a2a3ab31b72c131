import { SoukError } from '../../lib/base/errors.ts'
import type { UpstreamConfig } from '../../lib/interface/adapter.ts'
import { diagnosis } from '../inspection.ts'
import { parseEndpoint } from '../upstream/target.ts'
import { createUpstream } from '../upstream/upstream.ts'
import { shownUrl } from './wsdl-bundle-path.ts'
import type { LoadFile } from './wsdl-files.ts'

const ACCEPT = 'text/xml, application/xml, application/wsdl+xml, */*;q=0.5'

/** Gets files of a WSDL over HTTP. The API's credentials are shown to its own origin only, and the guard is asked about any. */
export function fetching(config: UpstreamConfig, signal: AbortSignal): LoadFile {
  const { guard, timeoutMs } = config
  const { origin } = parseEndpoint(config.endpoint)
  return async (url, bytesMax) => {
    const isOwn = url.origin === origin
    const elsewhere = {
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(guard === undefined ? {} : { guard })
    }
    const upstream = createUpstream({ ...(isOwn ? config : elsewhere), endpoint: url.href })
    try {
      const response = await upstream.request({ method: 'GET', headers: [['accept', ACCEPT]], signal })
      const { status, headers } = response
      if (status !== 200) {
        response.discard()
        const login = !isOwn ? 'elsewhere' : config.auth === undefined ? 'missing' : 'refused'
        throw new SoukError('invalid_request', `${shownUrl(url)} answers HTTP ${status}${why(status, login)}`, {
          source: 'upstream'
        })
      }
      const bytes = await response.bytes(bytesMax)
      return { bytes, type: headers.find(([name]) => name === 'content-type')?.[1] }
    } catch (error) {
      throw diagnosis(error)
    } finally {
      await upstream.close()
    }
  }
}

const LOGINS = {
  missing:
    ": it wants a login. Register with the API's credentials (--auth-file), or give the WSDL as a file (--wsdl-file).",
  refused:
    ': it does not take the credentials that were given (--auth-file). Or give the WSDL as a file (--wsdl-file).',
  elsewhere:
    ": it wants a login, and the API's credentials are shown to no other origin. Give the WSDL with its imports as files (--wsdl-file)."
}

/** What a provider can do about an answer that is no WSDL. */
function why(status: number, login: keyof typeof LOGINS): string {
  if (status === 401 || status === 403) return LOGINS[login]
  if (status === 404 || status === 410) return ': there is nothing. The address of a WSDL usually ends with ?wsdl.'
  return ' instead of a WSDL.'
}
