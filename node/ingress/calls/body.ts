import type { IncomingMessage, ServerResponse } from 'node:http'
import { SoukError } from '../../../lib/index.ts'

/** A request and its response. */
export interface BodyExchange {
  readonly req: IncomingMessage
  /** Sends `100 Continue` to a client that waits for it. Absent if it was sent before. */
  readonly res?: ServerResponse
}

/** RFC 9112 §6.3: one of two headers announces a body. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/**
 * Bodies are checked and counted as they are, and the API would not learn that one is compressed.
 * @throws SoukError `unsupported_media_type`
 */
export function checkCoding({ headers }: IncomingMessage): void {
  const { 'content-encoding': content = '', 'transfer-encoding': transfer = '' } = headers
  if (content === '' && (transfer === '' || transfer === 'chunked')) return
  const codings = `${content},${transfer}`.split(',').map((coding) => coding.trim().toLowerCase())
  const [coding] = codings.filter((each) => !NO_CODING.has(each))
  if (coding === undefined) return
  const shown = /^[a-z0-9-]{1,40}$/.test(coding) ? ` (${coding})` : ''
  throw new SoukError('unsupported_media_type', `The body is compressed${shown}. Send it uncompressed.`)
}

const NO_CODING: ReadonlySet<string> = new Set(['', 'identity', 'chunked'])

/** A body that is forwarded as it arrives. */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  /** Set when the body exceeded its limit, even if the reader ignored that. */
  readonly failure: SoukError | undefined
}

/** @throws SoukError `unsupported_media_type`; `request_too_large`, at once or while the body is read */
export function readStreamed({ req, res }: BodyExchange, bytesMax: number): StreamedBody {
  checkCoding(req)
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  let failure: SoukError | undefined
  return {
    get failure() {
      return failure
    },
    async *[Symbol.asyncIterator]() {
      if (req.headers.expect !== undefined) res?.writeContinue()
      let received = 0
      // If the provider stops reading, only the upload ends. Destroying the request would close its socket.
      for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        received += chunk.length
        if (received > bytesMax) throw (failure = tooLarge(bytesMax))
        yield chunk
      }
    }
  }
}

export function tooLarge(bytesMax: number): SoukError {
  return new SoukError('request_too_large', `The request body may have at most ${bytesMax} bytes.`)
}
