import { openapiDocument, PROBLEM_CONTENT } from '../../http/openapi.ts'
import { PATH_PARAMETERS } from '../parameters.ts'
import { type IngressDeclaration, needsKey } from '../route.ts'

const KEY = { key: [] }

const PAYMENT_REQUIRED = {
  description: 'Payment required: send a key with enough balance, or pay as a header states.',
  headers: {
    'PAYMENT-REQUIRED': { description: 'x402 version 2, base64.', schema: { type: 'string' } },
    'WWW-Authenticate': {
      description: 'A challenge of the scheme `Payment`, for one transfer.',
      schema: { type: 'string' }
    }
  },
  content: PROBLEM_CONTENT
}

/** An ingress with these routes as OpenAPI 3.1. */
export function ingressOpenapi(routes: readonly IngressDeclaration[], version: string) {
  return openapiDocument({
    title: 'Souk ingress',
    version,
    description:
      'Calls APIs of a peer-to-peer marketplace, and pays for them by the call. Each API has its own document, ' +
      'at /v1/apis/{id}/openapi.json. Amounts are decimal strings in USDC.',
    server: '/',
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Consumer-Key' } },
    operations: routes.map(operationOf)
  })
}

function operationOf(route: IngressDeclaration) {
  const { rawBody, path } = route
  const paysItself = route.headers !== undefined && 'PAYMENT-SIGNATURE' in route.headers
  return {
    ...route,
    tag: TAGS.find(([start]) => path.startsWith(start))?.[1] ?? 'Node',
    params: PATH_PARAMETERS,
    ...(rawBody === undefined ? {} : { body: rawBody }),
    ...(needsKey(route) ? { security: paysItself ? [KEY, {}] : [KEY] } : {}),
    ...(paysItself ? { refusals: { 402: PAYMENT_REQUIRED } } : {})
  }
}

/** Groups for tools that show a document in sections. */
const TAGS = [
  ['/api/', 'Calls'],
  ['/mcp', 'Calls'],
  ['/v1/apis', 'Market'],
  ['/.well-known', 'Market'],
  ['/discovery', 'Market'],
  ['/llms.txt', 'Market'],
  ['/v1/subscriptions', 'Subscriptions'],
  ['/v1/', 'Account']
] as const
