import { SoukError } from '../../lib/index.ts'
import { CALL_METHODS, CALL_PATHS } from './call-routes.ts'
import { sendProblem } from './problem.ts'
import { INGRESS_ROUTES } from './routes.ts'
import type { RequestContext } from './request-context.ts'

/** In the order of the Allow header. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The paths of all ingresses, with the methods of each. */
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

/** Responds to an unknown path, or to a method that its path does not support. */
export function sendNoRoute(context: RequestContext): void {
  const { method = '', url = '' } = context.req
  const known = PATHS.find(({ pattern }) => pattern.test(url))
  if (known !== undefined && !known.methods.includes(method)) {
    const error = new SoukError('method_not_allowed', `This path does not support ${method}.`)
    sendProblem(context, error, known.methods.join(', '))
    return
  }
  const detail = 'No such path. Send calls to POST /api/demo/api/<name>; GET /v1/apis lists the APIs.'
  sendProblem(context, new SoukError('api_not_found', detail))
}
