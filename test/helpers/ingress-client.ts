import { PATIENCE_MS_MIN } from './eventually.ts'

/** The complete response of one call through an ingress. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON: the API's, or a problem document. */
  readonly json: unknown
  /** Total time until the response was complete. */
  readonly ms: number
}

export interface PostInit {
  readonly key?: string
  /** A string or bytes are sent unchanged, other values as JSON. Default `{}`. */
  readonly body?: string | Uint8Array | object
  readonly headers?: Readonly<Record<string, string>>
  /** Default `PATIENCE_MS_MIN`, so that no test hangs. */
  readonly boundMs?: number
}

/** Makes a call like any HTTP client. */
export async function post(ingress: string, api: string, init: PostInit = {}): Promise<Answered> {
  const { key, body = {}, headers = {}, boundMs = PATIENCE_MS_MIN } = init
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
