/** What came back of one call through an ingress, read whole. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON: of the API, or a problem document. */
  readonly json: unknown
  /** Time the client waited for all of it. */
  readonly ms: number
}

export interface PostInit {
  readonly key?: string
  /** Sent as it is when a string or bytes, else as JSON. Default `{}`. */
  readonly body?: string | Uint8Array | object
  readonly headers?: Readonly<Record<string, string>>
  /** Default 20 s: a test never hangs for longer. */
  readonly boundMs?: number
}

/** A call as any HTTP client makes it. */
export async function post(ingress: string, api: string, init: PostInit = {}): Promise<Answered> {
  const { key, body = {}, headers = {}, boundMs = 20_000 } = init
  const startedAt = performance.now()
  const response = await fetch(`${ingress}/api/demo/api/${api}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'x-consumer-key': key }),
      ...headers
    },
    body: typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
    signal: AbortSignal.timeout(boundMs)
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
    ms: performance.now() - startedAt
  }
}
