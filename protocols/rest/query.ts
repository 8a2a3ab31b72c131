import { SoukError } from '../../lib/base/errors.ts'
import { parseJson } from '../json.ts'

/**
 * A JSON object as a query string, for APIs that are read by GET: `{"symbol":"BTC","tags":["a","b"]}` becomes
 * `?symbol=BTC&tags=a&tags=b`. A field that is null is left out. Numbers keep the digits they were written with.
 *
 * @throws SoukError `invalid_request` for anything but an object of strings, numbers, booleans, nulls and lists of these.
 */
export function queryOf(text: string): string {
  const body = parseJson(text, (_key, value, context) => (typeof value === 'number' ? context?.source : value))
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new SoukError('invalid_request', 'The body must be a JSON object: its fields become query parameters.')
  }
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(body)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === null) continue
      if (typeof one !== 'string' && typeof one !== 'boolean') {
        throw new SoukError('invalid_request', 'A nested object or list cannot become a query parameter.')
      }
      parameters.append(name, String(one))
    }
  }
  const query = parameters.toString()
  return query === '' ? '' : `?${query}`
}
