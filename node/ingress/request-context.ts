import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'

/** The little that the ingress asks of a log: messages for the operator, facts beside them. No header ever goes in. */
export interface IngressLog {
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void
  error(message: string, facts?: Readonly<Record<string, unknown>>): void
}

/** One HTTP request on its way through the ingress. */
export interface RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly clock: Clock
  readonly log: IngressLog
  /** Sixteen bytes, and as text. */
  readonly requestId: Uint8Array
  readonly requestIdText: string
  /** On the clock's `elapsed`. */
  readonly startedAt: number
  /** What every response to this request carries: names and values in turn, as `writeHead` takes them. */
  readonly headers: readonly string[]
}

type Answered = Pick<RequestContext, 'req' | 'res' | 'clock' | 'headers'>

/** Sends a whole response, and makes sure that whoever is still uploading gets to read it. */
export function sendWhole(context: Answered, status: number, headers: readonly string[], body: Uint8Array): void {
  const { req, res } = context
  const head = [...context.headers, ...headers, 'Content-Length', String(body.length)]
  if (!leavesMuchUnread(req)) {
    res.writeHead(status, head).end(body)
    return
  }
  head.push('Connection', 'close')
  res.writeHead(status, head).write(body)
  endAfterUpload(context)
}

/** The rest of the request is too much to be read only for keeping the connection, or may never come: its reading was broken off. */
export function leavesMuchUnread(req: IncomingMessage): boolean {
  if (req.complete) return false
  if (req.readableFlowing === true) return true
  if (req.headers['transfer-encoding'] !== undefined) return true
  return Number(req.headers['content-length'] ?? 0) > limits.DISCARD_BYTES_MAX
}

/**
 * RFC 9112 §9.6: closing with unread data makes TCP send a reset, which can wipe the response out before the client has read
 * it, so the server keeps reading for a while first.
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
