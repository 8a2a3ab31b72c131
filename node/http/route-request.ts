/** The input of a request to a route. */
export interface RouteInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: object
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** The method and the target of a request to a route such as `GET /keys/:id`. Omits undefined query members. */
export function requestTo(
  route: string,
  { params = {}, query = {} }: RouteInput
): { readonly method: string; readonly target: string } {
  const [method = '', path = ''] = route.split(' ')
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return { method, target: search === '' ? filled : `${filled}?${search}` }
}
