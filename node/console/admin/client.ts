/** The admin API as the console uses it: JSON over the node's own origin, let in by the session's cookie. */

/** A refusal, as the node words it, or that it could not be reached. */
export class Problem extends Error {
  override readonly name = 'Problem'
  /** A code of the table of errors; `offline` where no answer came. */
  readonly code: string
  readonly requestId: string | undefined
  /** Faults of single fields, where the node names them. */
  readonly invalid: ReadonlyArray<{ readonly field: string; readonly message: string }>

  constructor(code: string, detail: string, requestId?: string, invalid: Problem['invalid'] = []) {
    super(detail)
    this.code = code
    this.requestId = requestId
    this.invalid = invalid
  }
}

const ROOT = '/admin/v1'

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return send<T>('GET', path, undefined, signal)
}

/** @throws Problem */
export async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await reach(method, path, body, signal)
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T)
}

/** The answer as it comes, for whoever reads it as a stream. @throws Problem */
export async function reach(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  let response: Response
  try {
    response = await fetch(ROOT + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      ...(signal === undefined ? {} : { signal })
    })
  } catch (cause) {
    if (signal?.aborted === true) throw cause
    throw new Problem('offline', 'The node does not answer. It may have been stopped; start it with: souk up')
  }
  if (!response.ok) throw await problemOf(response)
  return response
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const { code, detail, request_id, invalid } = (await response.json()) as {
      code: string
      detail: string
      request_id: string
      invalid?: Problem['invalid']
    }
    return new Problem(code, detail, request_id, invalid)
  } catch {
    return new Problem('internal_error', `The node answered with status ${response.status}.`)
  }
}
