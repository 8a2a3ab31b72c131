import { z } from 'zod'
import { CALL_HEADERS } from './parameters.ts'
import type { IngressDeclaration } from './route.ts'
import { anyObject } from './views.ts'

export const CALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export const CALL_PATHS = ['/api/:scope/api/:name', '/api/:scope/api/:name/*'] as const
const [PLAIN, BELOW] = CALL_PATHS

const FORWARDED = {
  summary: 'Calls an API by a method of its own, where its listing passes them on.',
  headers: CALL_HEADERS,
  needsKey: true,
  status: 200
}

/**
 * Calls of APIs, for documents. `addCallRoutes` of `ingress.ts` serves them: a call is read by `call.ts` alone, and no schema is in its way.
 */
export const callRoutes: readonly IngressDeclaration[] = [
  {
    method: 'POST',
    path: PLAIN,
    summary:
      'Calls an API. Scope is `demo`, or whose API is meant: a provider’s id, an alias of this node, or a domain.',
    headers: CALL_HEADERS,
    needsKey: true,
    rawBody: anyObject,
    response: z.unknown()
  },
  ...(['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({ method, path: PLAIN, ...FORWARDED })),
  ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({ method, path: BELOW, ...FORWARDED }))
]
