import { limits, parseApiRef, SoukError } from '../../lib/index.ts'
import type { ApiRef } from '../../lib/interface/index.ts'

/** The APIs in the `?api=` parameters of a URL. @throws SoukError `invalid_request` */
export function apisIn(url: string): ApiRef[] {
  const apis = new URLSearchParams(url.split('?')[1] ?? '').getAll('api').map(parseApiRef)
  if (apis.length <= limits.MCP_APIS_MAX) return apis
  throw new SoukError('invalid_request', `The URL may name at most ${limits.MCP_APIS_MAX} APIs.`)
}

/** The patterns in the `?operation=` parameters of a URL. @throws SoukError `invalid_request` */
export function operationsIn(url: string): string[] {
  const patterns = new URLSearchParams(url.split('?')[1] ?? '').getAll('operation')
  if (patterns.length > limits.MCP_PATTERNS_MAX)
    throw new SoukError('invalid_request', `The URL may name at most ${limits.MCP_PATTERNS_MAX} operations.`)
  if (patterns.some((pattern) => pattern === '' || pattern.length > limits.SUMMARIZED_NAME_CHARS_MAX))
    throw new SoukError(
      'invalid_request',
      `An operation in the URL must have 1 to ${limits.SUMMARIZED_NAME_CHARS_MAX} characters.`
    )
  return patterns
}
