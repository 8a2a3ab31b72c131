import { z } from 'zod'
import { CALL_HEADERS } from './parameters.ts'
import type { IngressDeclaration } from './route.ts'
import { anyObject } from './views.ts'

export const CALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export const CALL_PATHS = ['/api/:scope/api/:name', '/api/:scope/api/:name/*'] as const
const [PLAIN, BELOW] = CALL_PATHS

const FORWARDED = {
  summary: 'Calls an API with another HTTP method, if its listing forwards methods.',
  headers: CALL_HEADERS,
  needsKey: true,
  status: 200
}

/** Declares the call routes for documents only. `addCallRoutes` in `ingress.ts` serves them; `request.ts` validates a call, not a schema. */
export const callRoutes: readonly IngressDeclaration[] = [
  {
    method: 'POST',
    path: PLAIN,
    summary: 'Calls an API. The scope is `demo`, or names the provider: its id, an alias of this node, or a domain.',
    headers: CALL_HEADERS,
    needsKey: true,
    rawBody: anyObject,
    response: z.unknown()
  },
  ...(['GET', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({ method, path: PLAIN, ...FORWARDED })),
  ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({ method, path: BELOW, ...FORWARDED }))
]
