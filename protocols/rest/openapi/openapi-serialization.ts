import { PARAMETER_LISTS_MAX } from '../../../lib/base/limits/rest.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import type { ParameterStyle, RestParameter, Serialization } from './rest-api.ts'

/** The styles of each place, the default first (OpenAPI 3.1, section 4.8.12.2.2; `cookie` of 3.2). */
const STYLES: Readonly<Record<RestParameter['in'], readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form', 'cookie']
}
const COLLECTION_FORMATS: Readonly<Record<string, ParameterStyle>> = {
  csv: 'simple',
  ssv: 'spaceDelimited',
  tsv: 'tabDelimited',
  pipes: 'pipeDelimited',
  multi: 'form'
}

/** Undefined for a style that the place does not have. */
export function serializationOf(
  { style: asked, explode: wanted }: JsonObject,
  place: RestParameter['in']
): Serialization | undefined {
  const [usual] = STYLES[place]
  // Some generators write the default style of another place. Each place has its own.
  const isForeign = asked === 'simple' || asked === 'form'
  const style = STYLES[place].find((one) => one === asked) ?? (asked === undefined || isForeign ? usual : undefined)
  if (style === undefined) return undefined
  return {
    style,
    explode: typeof wanted === 'boolean' ? wanted : style === 'form' || style === 'cookie'
  }
}

/** Reserved characters that stay as they are: all in a query, slashes in a path (OpenAPI 3.2, section 4.12.2; Azure's documents). */
export function reservedIn(
  { allowReserved, 'x-ms-skip-url-encoding': isSkipped }: JsonObject,
  place: RestParameter['in']
): Pick<RestParameter, 'allowReserved' | 'spansSegments'> {
  if (allowReserved !== true && isSkipped !== true) return {}
  if (place === 'path') return { spansSegments: true }
  return place === 'query' ? { allowReserved: true } : {}
}

/** OpenAPI 2.0 has the separator of lists only. `multi` repeats the parameter in a query or a form. */
export function oldSerializationOf(given: JsonObject, repeats: boolean): Serialization {
  const style = formatOf(given)
  const nested: ParameterStyle[] = []
  for (let { items } = given; isObject(items) && items['type'] === 'array'; { items } = items) {
    if (nested.length >= PARAMETER_LISTS_MAX) break
    nested.push(formatOf(items))
  }
  const explode = repeats && style === 'form'
  return {
    style: style === 'form' && !explode ? 'simple' : style,
    explode,
    ...(nested.length === 0 ? {} : { nested }),
    ...(repeats && !explode ? { sendsEmpty: true } : {})
  }
}

function formatOf({ collectionFormat }: JsonObject): ParameterStyle {
  return COLLECTION_FORMATS[String(collectionFormat)] ?? 'simple'
}
