import { DISCOVERY_JSON_CHARS_MAX } from '../../lib/base/limits/discovery.ts'
import { isObject } from '../exact-json.ts'

/** Kinds of descriptions, by their text. */
export type DocumentKind = 'openapi' | 'wsdl'

const JSON_MARK = /"(?:openapi|swagger)"\s*:\s*"[23]\./
const YAML_MARK = /^["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\./m
const WSDL_ROOT = /<(?:[\w.-]+:)?(?:definitions|description)[\s>]/
const WSDL_NAMESPACE = /["']http:\/\/(?:schemas\.xmlsoap\.org\/wsdl\/|www\.w3\.org\/ns\/wsdl)["']/

/** What a text seems to be. An import decides. */
export function kindOf(text: string): DocumentKind | undefined {
  const start = text.slice(0, 200).trimStart()
  if (start.startsWith('<')) return WSDL_ROOT.test(text) && WSDL_NAMESPACE.test(text) ? 'wsdl' : undefined
  if (start.startsWith('{')) return JSON_MARK.test(text) ? 'openapi' : undefined
  return YAML_MARK.test(text) ? 'openapi' : undefined
}

/** The text of a document in UTF-8 or, with a byte order mark, in UTF-16. */
export function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  const charset =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(charset).decode(bytes)
}

/** True for a response of a GraphQL server to `{__typename}`, also if it refuses the query. */
export function isGraphql(text: string): boolean {
  const value = parsed(text)
  if (!isObject(value)) return false
  const { data, errors } = value
  if (isObject(data) && typeof data['__typename'] === 'string') return true
  // JSON:API also has `errors`, but without `message`. A GraphQL error has no status of its own.
  const isRefusal = (error: unknown) =>
    isObject(error) &&
    typeof error['message'] === 'string' &&
    (isObject(error['extensions']) || Array.isArray(error['locations']))
  return Array.isArray(errors) && errors.length > 0 && errors.every(isRefusal)
}

const LINK_VALUE = /<([^<>]*)>\s*((?:;[^,]*)*)/g
const DESCRIBES = /;\s*rel\s*=\s*"?[^";]*\b(?:service-desc|describedby)\b/i

/** Descriptions in `Link` headers (RFC 8288, RFC 8631). */
export function linkedIn(headers: ReadonlyArray<readonly [string, string]>): string[] {
  const values = headers.filter(([name]) => name === 'link').map(([, value]) => value)
  return values.flatMap((value) =>
    [...value.matchAll(LINK_VALUE)].flatMap(([, target = '', parameters = '']) =>
      DESCRIBES.test(parameters) ? [target] : []
    )
  )
}

const TAG = /<(?:link|a|redoc|rapi-doc|elements-api)\b[^<>]*>/gi
const TARGET = /\b(?:href|spec-url|apidescriptionurl)\s*=\s*["']([^"']+)["']/i
const IS_WSDL = /(?:\?|&amp;|&)(?:single)?wsdl\b|\.wsdl$/i
const SWAGGER_URL = /\burl\s*:\s*["']([^"'\s]+)["']/

/** Descriptions that a web page names: `service-desc` links, WSDLs of a list of services, and the document of a viewer. */
export function namedIn(page: string): string[] {
  const tags = [...page.matchAll(TAG)].flatMap(([tag]) => {
    const target = TARGET.exec(tag)?.[1]
    if (target === undefined) return []
    const describes = /\brel\s*=\s*["'][^"']*service-desc/i.test(tag) || !/^<(?:link|a)\b/i.test(tag)
    return describes || IS_WSDL.test(target) ? [target.replaceAll('&amp;', '&')] : []
  })
  const swagger = SWAGGER_URL.exec(page)?.[1]
  return swagger === undefined ? tags : [...tags, swagger]
}

/** Descriptions in a linkset (RFC 9264). */
export function catalogued(text: string): string[] {
  const value = parsed(text)
  const sets = isObject(value) && Array.isArray(value['linkset']) ? (value['linkset'] as unknown[]) : []
  return sets.flatMap((set) => {
    const targets = isObject(set) && Array.isArray(set['service-desc']) ? (set['service-desc'] as unknown[]) : []
    return targets.flatMap((target) => (isObject(target) && typeof target['href'] === 'string' ? [target['href']] : []))
  })
}

function parsed(text: string): unknown {
  if (text.length > DISCOVERY_JSON_CHARS_MAX) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
