import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import { clientHost } from '../http/host.ts'
import { untilRead } from '../http/until-read.ts'
import type { KeyLimiter } from '../keys/key-limiter.ts'
import type { BodyReader } from './calls/body-reader.ts'

export interface OpenRequestsInit {
  readonly clock: Pick<Clock, 'after'>
  readonly trustProxy: boolean
  readonly keyLimiter: KeyLimiter
  readonly bodies: BodyReader
}

/** Limits what requests that need no key use: how many there are at once, and the memory of responses that their clients do not read. */
export class OpenRequests {
  readonly #init: OpenRequestsInit

  constructor(init: OpenRequestsInit) {
    this.#init = init
  }

  /** Counts a request like an unauthenticated call, until its response is over. @throws SoukError `overloaded` */
  enter({ raw }: FastifyRequest, { raw: res }: FastifyReply): void {
    // Its client has left, so `close` would not come again.
    if (res.destroyed) return
    const { keyLimiter, trustProxy } = this.#init
    const permit = keyLimiter.enter(undefined, clientHost(raw, trustProxy))
    res.once('close', () => permit.leave())
  }

  /** Counts a large response until its client has read it. @throws SoukError `overloaded` */
  hold({ raw }: FastifyRequest, { raw: res }: FastifyReply, body: unknown): void {
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? Buffer.byteLength(body) : 0
    if (bytes <= limits.INLINE_BODY_BYTES_MAX) return
    const { bodies, clock } = this.#init
    const held = bodies.hold(raw)
    held.take(bytes)
    void untilRead(res, clock, bytes).finally(() => held.free())
  }
}
