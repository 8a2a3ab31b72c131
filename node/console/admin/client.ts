import type { AdminSurface } from '../../admin/routes.ts'
import { requestTo, type RouteInput } from '../../http/route-request.ts'
import type { SendRequest } from '../../http/route.ts'
import { readJson } from '../parts/json.ts'

/** Client of the admin API: JSON from the node's own origin, authenticated by the session cookie. */

/** A problem document from the node, or an `offline` error. */
export class Problem extends Error {
  override readonly name = 'Problem'
  /** A code of the error table, or `offline` if no response arrived. */
  readonly code: string
  readonly requestId: string | undefined
  /** Errors of single fields, if the node reports them. */
  readonly invalid: ReadonlyArray<{ readonly field: string; readonly message: string }>

  /** `api_exists`: what the registration would change. */
  readonly changes: ReadonlyArray<{ readonly field: string; readonly from: string; readonly to: string }>

  /** `description_incomplete`: the warnings that name a missing import. */
  readonly missing: readonly string[]

  constructor(code: string, detail: string, requestId?: string, members: Members = {}) {
    super(detail)
    this.code = code
    this.requestId = requestId
    this.invalid = members.invalid ?? []
    this.changes = members.changes ?? []
    this.missing = members.missing ?? []
  }
}

interface Members {
  readonly invalid?: Problem['invalid']
  readonly changes?: Problem['changes']
  readonly missing?: Problem['missing']
}

const ROOT = '/admin/v1'

/** Sends a request to a route of `node/admin/routes.ts`, such as `GET /keys/:id`. @throws Problem */
export const request = (async (route: keyof AdminSurface, input?: RouteInput): Promise<unknown> => {
  const response = await open(route, input)
  return response.status === 204 ? undefined : readJson(await response.text())
}) as SendRequest<AdminSurface>

/** Like `request`, but for a streamed response. @throws Problem */
export async function open(route: keyof AdminSurface, input: RouteInput = {}): Promise<Response> {
  const { method, target } = requestTo(route, input)
  const { body, signal = null } = input
  let response: Response
  try {
    response = await fetch(ROOT + target, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      signal
    })
  } catch (cause) {
    if (signal?.aborted === true) throw cause
    throw new Problem('offline', 'The node does not respond. It may have stopped. Start it with: souk up')
  }
  if (!response.ok) throw await problemOf(response)
  return response
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const document = (await response.json()) as Members & { code: string; detail: string; request_id: string }
    return new Problem(document.code, document.detail, document.request_id, document)
  } catch {
    return new Problem('internal_error', `The node answered with status ${response.status}.`)
  }
}
