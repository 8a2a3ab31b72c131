import { parseApiRef } from '../../lib/index.ts'

/** A document about an API. */
export type ResourceRef =
  | { readonly api: string; readonly kind: 'listing' | 'openapi' | 'sdl' }
  | { readonly api: string; readonly kind: 'operation'; readonly operation: string }

const START = 'souk://apis/'
const FILES = { openapi: '/openapi.json', sdl: '/schema.graphql', listing: '' } as const
const OPERATIONS = '/operations/'

/** Templates of all resources (RFC 6570). */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${START}{api}`,
    name: 'listing',
    title: 'Listing of an API',
    description: 'Price, provider, plans and operations of an API.',
    mimeType: 'text/markdown'
  },
  {
    uriTemplate: `${START}{api}${OPERATIONS}{operation}`,
    name: 'operation',
    title: 'Operation of an API',
    description: 'Description of one operation, with the JSON Schemas of its input and output.',
    mimeType: 'application/json'
  },
  {
    uriTemplate: `${START}{api}${FILES.openapi}`,
    name: 'openapi',
    title: 'OpenAPI document of an API',
    description: 'How to call the API over HTTP. Not for large APIs: read their operations one by one.',
    mimeType: 'application/json'
  },
  {
    uriTemplate: `${START}{api}${FILES.sdl}`,
    name: 'schema',
    title: 'Schema of a GraphQL API',
    description: 'The schema of a GraphQL API in the schema definition language.',
    mimeType: 'application/graphql'
  }
] as const

export function resourceUri(ref: ResourceRef): string {
  // In a path, "@" needs no escape, and names stay readable.
  const start = START + encodeURIComponent(ref.api).replace('%40', '@')
  return ref.kind === 'operation' ? start + OPERATIONS + encodeURIComponent(ref.operation) : start + FILES[ref.kind]
}

/** Undefined if the URI names no resource of this server. */
export function parseResourceUri(uri: string): ResourceRef | undefined {
  const [, api = '', rest = ''] = /^souk:\/\/apis\/([^/?#]+)(\/[^?#]*)?$/.exec(uri) ?? []
  const name = decoded(api)
  if (name === undefined || !isApiRef(name)) return undefined
  for (const kind of ['listing', 'openapi', 'sdl'] as const) if (rest === FILES[kind]) return { api: name, kind }
  const operation = rest.startsWith(OPERATIONS) ? decoded(rest.slice(OPERATIONS.length)) : undefined
  return operation === undefined || operation === '' ? undefined : { api: name, kind: 'operation', operation }
}

function isApiRef(name: string): boolean {
  try {
    parseApiRef(name)
    return true
  } catch {
    return false
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
