import { isObject, type JsonObject } from '../../exact-json.ts'
import type { OpenapiDocument } from './openapi-document.ts'
import { LeftOut } from './openapi-path.ts'

export type DocumentHead = Pick<OpenapiDocument, 'root' | 'version' | 'references'>

/** The addresses of an API, as its document states them and as its provider registered them. */
export interface Servers {
  /** Registered by the provider. */
  readonly endpoint: string
  /** The document's own base address; undefined if it states none. */
  readonly documented: string | undefined
  /** Further origins that the provider confirmed. */
  readonly origins: ReadonlySet<string>
}

/**
 * The base addresses that a document states for all of its operations.
 * @param fallback - the base of relative addresses, where the document has no address of its own
 */
export function documentServers({ root, version, references }: DocumentHead, fallback?: string): string[] {
  const base = /^https?:/.test(references.url) ? references.url : fallback
  if (version !== '2.0') return addressesIn(root['servers'], base)
  const { host, basePath, schemes } = root
  const path = typeof basePath === 'string' ? `/${basePath.replace(/^\//, '')}` : ''
  if (typeof host !== 'string' || host === '') {
    return path === '' || base === undefined ? [] : [new URL(path, base).href]
  }
  const listed = ['https', 'http'].filter((scheme) => Array.isArray(schemes) && schemes.includes(scheme))
  const chosen = listed.length === 0 ? ['https'] : listed
  return chosen.map((scheme) => URL.parse(`${scheme}://${host}${path}`)?.href).filter((one) => one !== undefined)
}

/** The addresses of a list of servers, with the defaults of their variables. Others are skipped. */
export function addressesIn(servers: unknown, base: string | undefined): string[] {
  if (!Array.isArray(servers)) return []
  return servers.filter(isObject).flatMap((server) => {
    const text = filled(server)
    // `{baseUrl}` stands for an address, and is not a path below another one.
    if (text.startsWith('{')) return []
    const urls = text.startsWith('//') ? ofBothSchemes(text, base) : [URL.parse(text, base)]
    return urls.flatMap((url) =>
      url !== null && /^https?:$/.test(url.protocol) && url.username === '' ? [url.origin + url.pathname] : []
    )
  })
}

/** `//host` has the scheme of the document's address, which is not known of a file. */
function ofBothSchemes(text: string, base: string | undefined): Array<URL | null> {
  const schemes = base?.startsWith('http:') === true ? ['http:', 'https:'] : ['https:', 'http:']
  return schemes.map((scheme) => URL.parse(scheme + text))
}

function filled({ url, variables }: JsonObject): string {
  return String(url).replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined
    const { default: value, enum: values } = isObject(variable) ? variable : {}
    const [first] = Array.isArray(values) ? (values as unknown[]) : []
    const chosen = value ?? first
    return typeof chosen === 'string' || typeof chosen === 'number' ? String(chosen) : whole
  })
}

/**
 * The base address of an operation; undefined for the endpoint.
 * @param lists - the servers of the operation and of its path, the closest first
 * @throws LeftOut if the provider confirmed none of its origins
 */
export function serverOf({ endpoint, documented, origins }: Servers, lists: readonly unknown[]): string | undefined {
  const list = lists.find((one) => Array.isArray(one) && one.length > 0)
  if (list === undefined) return undefined
  const own = new URL(endpoint)
  const addresses = addressesIn(list, documented ?? endpoint).map((address) => new URL(address))
  if (addresses.length === 0) return undefined
  const withoutSlash = ({ pathname }: URL) => pathname.replace(/\/$/, '')
  for (const address of addresses) {
    const isSame = documented !== undefined && address.href.replace(/\/$/, '') === documented.replace(/\/$/, '')
    if (isSame) return undefined
    // A registered endpoint that stands for the documented server also stands for its other paths.
    const stands = documented !== undefined && address.origin === new URL(documented).origin
    const origin = stands ? own.origin : (confirmedOf(address, [own.origin, ...origins]) ?? address.origin)
    if (origin !== own.origin && !origins.has(origin)) continue
    if (origin === own.origin && withoutSlash(address) === withoutSlash(own)) return undefined
    return origin + address.pathname
  }
  const elsewhere = [...new Set(addresses.map(({ origin }) => origin))]
  const [origin = '', ...others] = elsewhere
  if (origin.includes('{')) {
    throw new LeftOut(
      `it is served at ${origin}, and the document has no default for the part in braces; confirm the address of exactly one such server with --server`
    )
  }
  if (others.length > 0) {
    throw new LeftOut(
      `it is served at ${elsewhere.join(' or ')}; confirm one of these addresses with --server, so that it may get the credentials`
    )
  }
  throw new LeftOut(
    `it is served at ${origin}; confirm that address with --server ${origin}, so that it may get the credentials`
  )
}

/** The only confirmed origin that an address with parts in braces stands for. Undefined for another address. */
function confirmedOf({ origin }: URL, confirmed: readonly string[]): string | undefined {
  if (!origin.includes('{')) return undefined
  const [only, ...others] = new Set(confirmed.filter((one) => fits(one, origin)))
  return others.length === 0 ? only : undefined
}

/** Whether each part of an origin is that of another one, where a part may have one name in braces. */
function fits(origin: string, template: string): boolean {
  const [parts, wanted] = [origin.split('.'), template.split('.')]
  return parts.length === wanted.length && wanted.every((one, at) => partFits(parts[at] ?? '', one))
}

function partFits(part: string, wanted: string): boolean {
  const [, before, after] = /^([^{}]*)\{[^{}]+\}([^{}]*)$/.exec(wanted) ?? []
  if (before === undefined || after === undefined) return part === wanted
  return part.startsWith(before) && part.endsWith(after) && part.length > before.length + after.length
}
