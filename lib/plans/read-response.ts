import { collect } from '../base/collect.ts'
import { SoukError } from '../base/errors.ts'
import { SUBSCRIPTION_BODY_BYTES_MAX } from '../base/limits/plans.ts'
import type { Payload } from '../interface/payload.ts'

/** @throws SoukError `response_too_large` */
export function readResponse(body: Payload): Promise<Uint8Array> {
  return collect(
    body,
    SUBSCRIPTION_BODY_BYTES_MAX,
    () => new SoukError('response_too_large', undefined, { source: 'owner' })
  )
}
