import { SoukError } from '../../lib/base/errors.ts'
import { isObject, textOf } from '../exact-json.ts'

/**
 * A JSON object as a query string, for APIs that are read by GET: `{"symbol":"BTC","tags":["a","b"]}` becomes
 * `?symbol=BTC&tags=a&tags=b`. Null fields are omitted. Numbers keep their original digits.
 *
 * @param body as `exactly` parsed it
 * @throws SoukError `invalid_request` unless it is an object of strings, numbers, booleans, nulls and lists of these
 */
export function queryOf(body: unknown): string {
  if (!isObject(body)) {
    throw new SoukError('invalid_request', 'The body must be a JSON object: its fields become query parameters.')
  }
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(body)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one === null) continue
      const text = textOf(one)
      if (text === undefined) {
        throw new SoukError('invalid_request', 'A nested object or list cannot become a query parameter.')
      }
      parameters.append(name, text)
    }
  }
  const query = parameters.toString()
  return query === '' ? '' : `?${query}`
}
