/** Where frameworks serve OpenAPI documents, relative to the root of the API. The most common ones come first. */
const OPENAPI = [
  'openapi.json',
  'openapi.yaml',
  'swagger.json',
  'v3/api-docs',
  'v2/api-docs',
  'api-docs',
  'swagger/v1/swagger.json',
  '.well-known/openapi.json',
  '.well-known/openapi.yaml',
  'openapi.yml',
  'swagger.yaml',
  'openapi',
  'openapi/v1.json',
  'q/openapi',
  'api-json',
  'api-docs.json',
  'api-docs/swagger.json',
  'api/openapi.json',
  'api/swagger.json',
  'api/schema/',
  'docs/openapi.json',
  'documentation/json',
  'swagger/doc.json',
  'swagger/json'
]

const GRAPHQL = ['graphql', 'api/graphql', 'v1/graphql', 'query']

/** A linkset with the descriptions of a host's APIs (RFC 9727). */
export const API_CATALOG = '/.well-known/api-catalog'

/** Paths to read by GET for a description, most likely first. Paths of the address itself come before those of the root. */
export function documentPlaces({ pathname }: URL): string[] {
  const own = pathname.replace(/\/$/, '')
  const wsdl = [`${pathname}?wsdl`, ...(own === '' ? ['/service?wsdl', '/ws?wsdl'] : [`${own}.wsdl`])]
  const folders = new Set([own, own.slice(0, own.lastIndexOf('/') + 1).replace(/\/$/, ''), ''])
  const near = [...folders].flatMap((folder) =>
    OPENAPI.slice(0, folder === '' ? undefined : 7).map((at) => `${folder}/${at}`)
  )
  return [...new Set([...wsdl, ...near])]
}

/** Paths of GraphQL endpoints. */
export function graphqlPlaces({ pathname }: URL): string[] {
  return [...new Set([pathname, ...GRAPHQL.map((at) => `/${at}`)])]
}

/** True if a query may be posted to this path unasked. At any other path, a POST could create or change something. */
export function isNamedGraphql(path: string): boolean {
  return /\/(?:graphql|graphiql|gql)\/?$/i.test(path)
}
