import type { IncomingMessage } from 'node:http'
import { SoukError } from '../../lib/index.ts'

const EMPTY = new Uint8Array(0)

/** RFC 9112 §6.3: a request has a body when it says so by one of two headers. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}

/**
 * A whole body, as it was sent.
 * @throws SoukError `request_too_large`; `call_interrupted` when the client goes away.
 */
export function readWhole(req: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  if (!hasBody(req)) return Promise.resolve(EMPTY)
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) return Promise.reject(tooLarge(bytesMax))
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let received = 0
    const onData = (chunk: Uint8Array) => {
      received += chunk.length
      if (received > bytesMax) settle(() => reject(tooLarge(bytesMax)))
      else chunks.push(chunk)
    }
    const onEnd = () =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks, received)))
    const onGone = () => settle(() => reject(new SoukError('call_interrupted', 'The client went away.')))
    const settle = (outcome: () => void) => {
      req.off('data', onData).off('end', onEnd).off('close', onGone)
      outcome()
    }
    req.on('data', onData).on('end', onEnd).on('close', onGone)
  })
}

/** A body passed on as it arrives. */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  /** Set when it became too large, whatever whoever read it made of that. */
  readonly failure: SoukError | undefined
}

/** @throws SoukError `request_too_large`, at once or while it is read. */
export function readStreamed(req: IncomingMessage, bytesMax: number): StreamedBody {
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax)
  let failure: SoukError | undefined
  return {
    get failure() {
      return failure
    },
    async *[Symbol.asyncIterator]() {
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

function tooLarge(bytesMax: number): SoukError {
  return new SoukError('request_too_large', `A request body has at most ${bytesMax} bytes here.`)
}
