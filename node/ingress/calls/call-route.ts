import type { ApiRef, Souk } from '../../../lib/interface/index.ts'
import type { Keys } from '../../keys/keys.ts'
import { permitted } from '../../keys/scope.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import type { PerIp } from '../per-ip.ts'
import type { RequestContext } from '../request-context.ts'
import type { BodyReader } from './body-reader.ts'
import type { KeyCalls } from './key-call.ts'
import type { Keyless } from './keyless.ts'

/** The services that calls at the ingress need. */
export interface CallRoute extends KeyCalls {
  readonly souk: Pick<Souk, 'call' | 'resolve'>
  readonly keys: Pick<Keys, 'verify' | 'nameFor'>
  /** Limits requests with a missing or invalid key, per host. */
  readonly unauthenticated: PerIp
  /** Payments of calls without a key. Absent if this node refuses such calls. */
  readonly keyless?: Keyless
  /** Limits calls with the public demo key, per host. */
  readonly demoCalls: Pick<PerIp, 'count'>
  readonly requestBytesMax: number
  /** Size limit of a body that is forwarded as it arrives. */
  readonly uploadBytesMax: number
  readonly bodies: BodyReader
  /** Trust the proxy’s header for the client’s address. */
  readonly trustProxy: boolean
}

/**
 * Checks the key before anything else of the request.
 * @throws SoukError `key_not_permitted`, `name_conflict`, `rate_limited` (public demo key)
 */
export function admit(
  { demoCalls }: Pick<CallRoute, 'demoCalls'>,
  { req }: Pick<RequestContext, 'req'>,
  holder: KeyHolder,
  api: ApiRef
): ApiRef {
  const asked = permitted(holder, api)
  if (holder.isPublic === true) demoCalls.count(req)
  return asked
}
