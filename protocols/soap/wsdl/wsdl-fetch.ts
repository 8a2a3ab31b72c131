import { SoukError } from '../../../lib/base/errors.ts'
import type { UpstreamConfig } from '../../../lib/interface/adapter.ts'
import { diagnosis } from '../../inspection.ts'
import { parseEndpoint } from '../../upstream/target.ts'
import { createUpstream } from '../../upstream/upstream.ts'
import { shownUrl } from './wsdl-bundle-path.ts'
import type { LoadFile } from './wsdl-files.ts'

const ACCEPT = 'text/xml, application/xml, application/wsdl+xml, */*;q=0.5'

/** Fetches the files of a WSDL over HTTP. The API's credentials go only to its own origin, and the guard checks every URL. */
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
        throw new SoukError('invalid_request', `${shownUrl(url)} responds with HTTP ${status}${why(status, login)}`, {
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
  refused: ': it rejects the credentials (--auth-file). Or upload the WSDL (--wsdl-file).',
  elsewhere:
    ": it wants a login, and the API's credentials are shown to no other origin. Give the WSDL with its imports as files (--wsdl-file)."
}

/** Advice for the provider about a response that is not a WSDL. */
function why(status: number, login: keyof typeof LOGINS): string {
  if (status === 401 || status === 403) return LOGINS[login]
  if (status === 404 || status === 410) return ': not found. The address of a WSDL usually ends with ?wsdl.'
  return ' instead of a WSDL.'
}
