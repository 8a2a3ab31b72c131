import type { IncomingMessage, ServerResponse } from 'node:http'
import { SoukError } from '../../../lib/index.ts'

/** A request, and where its response goes. */
export interface BodyExchange {
  readonly req: IncomingMessage
  /** Tells a client that waits for `100 Continue` to go on. Absent where it was told before. */
  readonly res?: ServerResponse
}

/** RFC 9112 §6.3: a request has a body when it says so by one of two headers. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/** A body passed on as it arrives. */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  /** Set when it became too large, whatever whoever read it made of that. */
  readonly failure: SoukError | undefined
}

/** @throws SoukError `request_too_large`, at once or while it is read. */
export function readStreamed({ req, res }: BodyExchange, bytesMax: number): StreamedBody {
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  let failure: SoukError | undefined
  return {
    get failure() {
      return failure
    },
    async *[Symbol.asyncIterator]() {
      if (req.headers.expect !== undefined) res?.writeContinue()
      let received = 0
      // An owner that stops reading ends the upload, not the connection: a destroyed request loses its socket.
      for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        received += chunk.length
        if (received > bytesMax) throw (failure = tooLarge(bytesMax))
        yield chunk
      }
    }
  }
}

export function tooLarge(bytesMax: number): SoukError {
  return new SoukError('request_too_large', `A request body has at most ${bytesMax} bytes here.`)
}
