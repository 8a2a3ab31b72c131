import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

/** The log interface of the ingress: messages for the operator, with facts. Headers are never logged. */
export interface IngressLog {
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void
  error(message: string, facts?: Readonly<Record<string, unknown>>): void
}

/** One HTTP request in the ingress. */
export interface RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly clock: Clock
  readonly log: IngressLog
  /** The request id: sixteen bytes. */
  readonly requestId: Uint8Array
  readonly requestIdText: string
  /** In terms of the clock’s `elapsed`. */
  readonly startedAt: number
  /** Headers of every response to this request: names and values in turn, as `writeHead` takes them. */
  readonly headers: readonly string[]
}

type Answered = Pick<RequestContext, 'req' | 'res' | 'clock' | 'headers'>

/** Sends a whole response, and makes sure that a client that is still uploading can read it. */
export function sendWhole(
  context: Answered,
  status: number,
  headers: readonly string[],
  body: Uint8Array | string
): void {
  const { req, res } = context
  const head = [...context.headers, ...headers, 'Content-Length', String(Buffer.byteLength(body))]
  if (!leavesMuchUnread(req)) {
    res.writeHead(status, head).end(body)
    return
  }
  head.push('Connection', 'close')
  res.writeHead(status, head).write(body)
  endAfterUpload(context)
}

/** Whether the unread rest of the request is too large, or of unknown length, to read just to keep the connection. */
export function leavesMuchUnread(req: IncomingMessage): boolean {
  if (req.complete) return false
  if (req.readableFlowing === true) return true
  if (req.headers['transfer-encoding'] !== undefined) return true
  return Number(req.headers['content-length'] ?? 0) > limits.DISCARD_BYTES_MAX
}

/**
 * Closing with unread data makes TCP send a reset, which can destroy the response before the client has read it. The server therefore keeps
 * reading for `LINGER_MS` (RFC 9112 §9.6).
 */
function endAfterUpload({ req, res, clock }: Answered): void {
  const end = () => {
    timer.cancel()
    req.off('end', end).off('close', end)
    res.end()
  }
  const timer = clock.after(limits.LINGER_MS, end)
  req.once('end', end).once('close', end)
  req.resume()
}
