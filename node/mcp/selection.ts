import { limits, parseApiRef, SoukError } from '../../lib/index.ts'
import type { ApiRef } from '../../lib/interface/index.ts'

/** Parameters that each endpoint for agents has. */
const SELECTING = ['api', 'operation']

/**
 * A mistyped parameter would offer other tools than the agent's user chose, or drop a limit of cost.
 * @param further - parameters of this endpoint alone
 * @throws SoukError `invalid_request`
 */
export function checkParameters(url: string, further: readonly string[] = []): void {
  const known = [...SELECTING, ...further]
  const unknown = [...new URLSearchParams(url.split('?')[1] ?? '').keys()].find((name) => !known.includes(name))
  if (unknown === undefined) return
  const message = `The URL has the unknown parameter "${unknown.slice(0, 80)}". It may have: ${known.join(', ')}.`
  throw new SoukError('invalid_request', message)
}

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
