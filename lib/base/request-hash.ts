import { createHash } from 'node:crypto'
import { sha256, utf8 } from './bytes.ts'
import { INLINE_BODY_BYTES_MAX } from './limits/link.ts'

/** The fields of a request that its hash covers. */
export interface HashedRequest {
  readonly api: string
  readonly method: string
  readonly path: string
  /** Hashed only where it is bytes. The bytes of a streamed body are not known in advance. */
  readonly body: unknown
  readonly service?: number | undefined
  readonly subscription?: Uint8Array | undefined
  readonly stream?: Uint8Array | undefined
  readonly events?: number | undefined
}

/** SHA-256 of the request fields that a repeat must match, and that a receipt states: section 7.2 of the protocol. */
export function requestHash(request: HashedRequest): Uint8Array {
  const { api, method, path, body, stream, events = 0 } = request
  const paid = stream === undefined ? '' : `${Buffer.from(stream).toString('hex')}\n${events}\n`
  const head = `${api}\n${method}\n${path}\n${paid}${planPart(request)}`
  if (!(body instanceof Uint8Array)) return sha256(utf8(head))
  // Joining costs less than a hash object, but a copy of a large body costs more.
  if (body.length > INLINE_BODY_BYTES_MAX) return createHash('sha256').update(head).update(body).digest()
  const headBytes = Buffer.byteLength(head)
  const whole = Buffer.allocUnsafe(headBytes + body.length)
  whole.write(head)
  whole.set(body, headBytes)
  return sha256(whole)
}

/** The subscription fields of a call. Empty without a subscription, which keeps earlier hashes valid. */
export function planPart({ service, subscription }: Pick<HashedRequest, 'service' | 'subscription'>): string {
  if (service === undefined && subscription === undefined) return ''
  return `${service ?? 0} ${subscription === undefined ? '' : Buffer.from(subscription).toString('hex')}\n`
}
