/** No process listens at the address, or it has no such host, so nothing was sent. */
const UNSENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND'])

/**
 * Sends a message to the endpoint of an ingress.
 * @throws an error to report if there is no response; with the code `node_not_running` if nothing was sent
 */
export async function postToIngress(endpoint: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(endpoint, { ...init, method: 'POST' })
  } catch (cause) {
    const { code } = ((cause as Error).cause ?? {}) as { readonly code?: unknown }
    if (!UNSENT.has(code)) throw new Error(`The connection to the ingress at ${endpoint.origin} failed.`, { cause })
    const what = `No ingress responds at ${endpoint.origin}. Check the URL, and that the node runs.`
    throw Object.assign(new Error(what, { cause }), { code: 'node_not_running' })
  }
}
