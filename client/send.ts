import { type PaymentHook, paymentFor } from './payment.ts'
import { bodyInit, type CallRequest, INSTEAD_OF_STREAM } from './request.ts'
import { errorOf, SoukError } from './souk-error.ts'
import type { TimeLimit } from './time-limit.ts'

/** First pause before a retry, if the ingress names none. Each further one is twice as long. */
const PAUSE_MS = 200
/** A longer `Retry-After` is left to the caller. */
const PAUSE_MS_MAX = 30_000

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Sending {
  readonly fetch: Fetch
  readonly request: CallRequest
  readonly limit: TimeLimit
  readonly retries: number
  readonly payment: PaymentHook | undefined
  readonly maxPrice: string | undefined
}

/**
 * Sends a call, pays for it if it is asked to, and sends it again after refusals that say `not_accepted`. Every attempt has the same
 * idempotency key and the same payment, so that nothing is paid twice.
 * @returns a response with a status of 200 to 299, or 304
 * @throws SoukError of the response; `ingress_unreachable`, `timed_out`; errors of the payment hook; the reason of an aborted signal
 */
export async function send({ fetch, request, limit, retries, payment, maxPrice }: Sending): Promise<Response> {
  const headers = new Headers(request.headers)
  for (let retry = 0; ; ) {
    const response = await attempt(fetch, request, headers, limit)
    if (response.ok || response.status === 304) return response
    if (response.status === 402 && payment !== undefined && request.mayRepeat && !headers.has('PAYMENT-SIGNATURE')) {
      const paid = await paymentFor(response, payment, maxPrice)
      if (paid !== undefined) {
        void response.body?.cancel().catch(() => undefined)
        headers.set('PAYMENT-SIGNATURE', paid)
        continue
      }
    }
    const error = await errorOf(response)
    const pauseMs = Math.max(error.retryAfterMs ?? 0, PAUSE_MS * 2 ** retry * (0.5 + Math.random()))
    const mayRetry = error.notAccepted && error.retryable && request.mayRepeat && retry < retries
    if (!mayRetry || pauseMs > Math.min(PAUSE_MS_MAX, limit.leftMs())) throw error
    retry++
    await limit.pause(pauseMs)
  }
}

async function attempt(fetch: Fetch, request: CallRequest, headers: Headers, limit: TimeLimit): Promise<Response> {
  const { url, method } = request
  const timeoutMs = limit.leftMs()
  if (Number.isFinite(timeoutMs)) headers.set('Souk-Timeout-Ms', String(Math.max(1, Math.ceil(timeoutMs))))
  let response: Response
  try {
    // A redirect to another origin would take the key there.
    response = await fetch(url, {
      method,
      headers,
      ...bodyInit(request),
      redirect: 'manual',
      // A stored response would show the charge of an earlier call, and Next.js 14 stores those of a POST. Older Cloudflare Workers
      // have no cache, and refuse the member.
      ...('cache' in Request.prototype ? { cache: 'no-store' } : {}),
      signal: limit.signal
    })
  } catch (cause) {
    if (limit.signal.aborted) throw limit.signal.reason
    // React's mark of errors that a framework catches itself, such as that of Next.js while it makes static pages.
    if (typeof (cause as { digest?: unknown } | undefined)?.digest === 'string') throw cause
    const detail =
      `${new URL(url).origin} did not respond: wrong address, no network, or it allows no pages of this origin (CORS).` +
      (request.mayRepeat ? '' : ` Browsers send streams only by HTTP/2. ${INSTEAD_OF_STREAM}`)
    throw new SoukError('ingress_unreachable', detail, { cause, retryable: true, charged: null })
  }
  if (response.type !== 'opaqueredirect') return response
  throw new SoukError('unexpected_response', 'The response redirects elsewhere. Use the address that it leads to.', {
    charged: null
  })
}
