import { jsonOrText, SoukError } from './souk-error.ts'
import type { CallOptions } from './request.ts'

/** A successful response without its body. */
export interface AnswerHead {
  readonly status: number
  /** Decimal USDC. Of a stream with priced events: what opening it cost. */
  readonly charged: string
  /** Identifies the call in logs and receipts. */
  readonly requestId: string
  /** All headers of the response: docs/reference/ingress-api.md. A page of another origin sees those that CORS exposes. */
  readonly headers: Headers
}

/** A successful response. */
export interface Answer<Body> extends AnswerHead {
  /** JSON, text or bytes by the content type, or as `CallOptions.as` says. Undefined without content. */
  readonly body: Body
}

/** @throws SoukError `unexpected_response` if the response is not of an ingress */
export function headOf({ status, headers }: Response): AnswerHead {
  const [charged, requestId] = [headers.get('souk-charged'), headers.get('x-request-id')]
  if (charged !== null && requestId !== null) return { status, charged, requestId, headers }
  const detail = 'The response has no Souk-Charged header. Is this the address of a Souk ingress?'
  throw new SoukError('unexpected_response', detail, { status, headers, charged: null })
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const TEXT_TYPE = /^text\/|^application\/(?:[\w.+-]+\+)?xml\s*(?:;|$)/i

/** @throws SoukError `response_broken`, `unexpected_response` */
export async function bodyOf(response: Response, head: AnswerHead, as: CallOptions['as']): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (as === 'stream') return response.body ?? new Blob([]).stream()
  if (as === undefined && /^text\/event-stream/i.test(type)) {
    void response.body?.cancel().catch(() => undefined)
    throw unreadable(head, 'The API responded with a stream of events. Read it with client.stream().')
  }
  const buffer = await response.arrayBuffer().catch((cause: unknown) => {
    throw broken(head, cause)
  })
  if (as === 'bytes') return new Uint8Array(buffer)
  const isJson = as === 'json' || (as === undefined && JSON_TYPE.test(type))
  if (as === undefined && buffer.byteLength === 0) return undefined
  if (!isJson && as !== 'text' && !TEXT_TYPE.test(type)) return new Uint8Array(buffer)
  const text = new TextDecoder(isJson ? undefined : charsetOf(type)).decode(buffer)
  if (!isJson) return text
  const value = jsonOrText(text)
  if (value === text) throw unreadable(head, 'The response is not JSON.')
  return value
}

/** The charset of text, if this runtime knows it. */
function charsetOf(type: string): string | undefined {
  const [, charset] = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? []
  try {
    return charset === undefined ? undefined : new TextDecoder(charset).encoding
  } catch {
    return undefined
  }
}

export function broken(
  { status, headers, requestId, charged }: Pick<SoukError, 'status' | 'headers' | 'requestId' | 'charged'>,
  cause: unknown
): SoukError {
  return new SoukError('response_broken', 'The response broke off.', { status, headers, requestId, charged, cause })
}

function unreadable({ status, headers, requestId, charged }: AnswerHead, detail: string): SoukError {
  return new SoukError('unexpected_response', detail, { status, headers, requestId, charged })
}
