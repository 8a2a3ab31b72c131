import { SoukError } from '../../lib/index.ts'
import { CALL_METHODS, CALL_PATHS } from './call-routes.ts'
import { sendProblem } from './problem.ts'
import { INGRESS_ROUTES } from './routes.ts'
import type { RequestContext } from './request-context.ts'

/** In the order of the header Allow. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Paths of all ingresses, and the methods that each takes. */
const PATHS = [...new Set(Object.values(INGRESS_ROUTES).flatMap((routes) => routes.map(({ path }) => path)))].map(
  (path) => ({ pattern: patternOf(path), methods: methodsOf(path) })
)

function patternOf(path: string): RegExp {
  const source = path.replaceAll('.', String.raw`\.`).replaceAll(/:\w+/g, '[^/?]+').replace(/\*$/, '[^?]*')
  return new RegExp(String.raw`^${source}(?:\?|$)`)
}

function methodsOf(path: string): readonly string[] {
  if (CALL_PATHS.some((each) => each === path)) return CALL_METHODS
  const routes = Object.values(INGRESS_ROUTES).flatMap((all) => all.filter((each) => each.path === path))
  const taken = new Set<string>(routes.map(({ method }) => method))
  return METHODS.filter((method) => taken.has(method === 'HEAD' ? 'GET' : method))
}

/** No route: a method that the path does not have, or no such path. */
export function sendNoRoute(context: RequestContext): void {
  const { method = '', url = '' } = context.req
  const known = PATHS.find(({ pattern }) => pattern.test(url))
  if (known !== undefined && !known.methods.includes(method)) {
    const error = new SoukError('method_not_allowed', `${method} is not possible here.`)
    sendProblem(context, error, known.methods.join(', '))
    return
  }
  const detail =
    'There is nothing at this path. Calls go to POST /api/demo/api/<name>, the list of APIs is at /v1/apis.'
  sendProblem(context, new SoukError('api_not_found', detail))
}
