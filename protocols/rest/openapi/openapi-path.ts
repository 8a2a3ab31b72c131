import { decoded } from './percent-decoded.ts'
import type { RestParameter } from './rest-api.ts'

/** Why an operation is left out, and what to do: the rest of a sentence. */
export class LeftOut extends Error {}

interface Template {
  readonly path: string
  /** A fixed query, without the parameters that are described. */
  readonly query: string
  readonly parameters: readonly RestParameter[]
  /** Parameters of the path that the document does not describe. */
  readonly undescribed: readonly RestParameter[]
}

const PARAMETER = /\{([^{}]*)\}/g
/**
 * A parameter as routers write it: `{proxy+}` of AWS, `{*path}` and `{path*}` of ASP.NET, `{+name}` of RFC 6570, all of several
 * segments; `{id:[0-9]+}` of JAX-RS.
 */
const ROUTED = /^([*+]{0,2})([\w.-]+)([*+?]?)(?::.*)?$/

/**
 * Reads a path of a document. Real ones also have a query, which belongs to each request, or a fragment, which is never sent and only
 * distinguishes operations of one address.
 * @throws LeftOut
 */
export function templateOf(given: string, declared: readonly RestParameter[]): Template {
  const [whole = ''] = given.split('#', 1)
  const mark = whole.replaceAll(PARAMETER, (braced) => 'x'.repeat(braced.length)).indexOf('?')
  const written = encoded(`/${(mark === -1 ? whole : whole.slice(0, mark)).replace(/^\//, '')}`)
  const { path, spanning } = plainly(written, declared)
  if (/\/\/|\/\.{1,2}(?:\/|$)|\\/.test(path)) {
    throw new LeftOut(`its path ${given} has empty or dot segments, which are never forwarded; correct the path`)
  }
  const isQuery = (name: string) => declared.some((one) => one.in === 'query' && one.name === name)
  const pairs = (mark === -1 ? '' : whole.slice(mark + 1)).split('&').filter((pair) => pair !== '')
  const fixed = pairs.filter((pair) => {
    const [name = ''] = pair.split('=', 1)
    const inBraces = /\{([^{}]*)\}/.exec(pair)?.[1] ?? ''
    // A described parameter writes itself.
    return !isQuery(decoded(name)) && !isQuery(inBraces)
  })
  const query = encoded(fixed.join('&'))
  const names = new Set([...`${path}?${query}`.matchAll(PARAMETER)].map(([, name = '']) => name))
  const parameters = declared
    .filter((one) => one.in !== 'path' || names.has(one.name))
    .map((one) => (one.in === 'path' && spanning.has(one.name) ? { ...one, spansSegments: true as const } : one))
  const undescribed = [...names].filter((name) => !parameters.some((one) => one.in === 'path' && one.name === name))
  if (undescribed.includes('')) throw new LeftOut(`its path ${given} has a parameter without a name; name it`)
  return {
    path,
    query,
    parameters,
    undescribed: undescribed.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      style: 'simple',
      explode: false
    }))
  }
}

/** The path with the plain names of described parameters, and those that may have several segments. */
function plainly(written: string, declared: readonly RestParameter[]) {
  const described = new Set(declared.filter((one) => one.in === 'path').map(({ name }) => name))
  const spanning = new Set<string>()
  const path = written.replaceAll(PARAMETER, (whole, given: string) => {
    const [, before = '', name = '', after = ''] = ROUTED.exec(given) ?? []
    if (described.has(given) || !described.has(name)) return whole
    if (before !== '' || after === '*' || after === '+') spanning.add(name)
    return `{${name}}`
  })
  return { path, spanning }
}

/** Percent-encodes what a request target cannot contain, outside of parameters. */
function encoded(text: string): string {
  return text.replaceAll(/\{[^{}]*\}|[^!-~]|["<>^`{|}]/gu, (piece) =>
    piece.length > 1 && piece.startsWith('{') ? piece : encodeURIComponent(piece)
  )
}
