import type { IncomingMessage } from 'node:http'
import { ByteBudget, type ByteShare, freeBuffer, type HeldBytes, limits, SoukError } from '../../../lib/index.ts'
import type { Clock } from '../../../lib/interface/index.ts'
import { clientHost } from '../../http/host.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import { type BodyExchange, checkCoding, hasBody, tooLarge } from './body.ts'

const EMPTY = new Uint8Array(0)
/** First buffer size for a body without Content-Length. */
const FIRST_BYTES = 4 * 1024

export interface BodyReaderInit {
  readonly clock: Clock
  readonly trustProxy: boolean
  /** Default `HELD_BYTES_MAX`. */
  readonly bytesMax?: number
  /** In each window, at least `BODY_WINDOW_BYTES_MIN` of a body must arrive. Default `BODY_WINDOW_MS`. */
  readonly windowMs?: number
}

/** Reads the bodies that an ingress buffers whole. All callers share one byte budget fairly. */
export class BodyReader {
  readonly #clock: Clock
  readonly #trustProxy: boolean
  readonly #bytesMax: number
  readonly #windowMs: number
  readonly #budget: ByteBudget

  constructor({
    clock,
    trustProxy,
    bytesMax = limits.HELD_BYTES_MAX,
    windowMs = limits.BODY_WINDOW_MS
  }: BodyReaderInit) {
    this.#clock = clock
    this.#trustProxy = trustProxy
    this.#bytesMax = bytesMax
    this.#windowMs = windowMs
    this.#budget = new ByteBudget(bytesMax)
  }

  /** Bytes buffered now. */
  get bytes(): number {
    return this.#budget.bytes
  }

  /**
   * Opens the memory reservation of one request; the caller frees it when the call ends. Requests without a holder, with the public demo
   * key, or with an unverified payment count as unauthenticated.
   */
  hold(req: IncomingMessage, holder?: KeyHolder): HeldBytes {
    return this.#budget.hold(this.#sharesOf(clientHost(req, this.#trustProxy), holder))
  }

  #sharesOf(host: string | undefined, holder: KeyHolder | undefined): ByteShare[] {
    const bytesMax = Math.floor(this.#bytesMax / limits.HELD_HOLDER_PART)
    const isUnauthenticated = holder === undefined || holder.isPublic === true
    const ofHost = isUnauthenticated ? Math.floor(this.#bytesMax / limits.HELD_STRANGER_PART) : bytesMax
    return [
      { holder: isUnauthenticated ? 'unauthenticated' : `key ${holder.account ?? holder.id}`, bytesMax },
      ...(host === undefined
        ? []
        : [{ holder: `${isUnauthenticated ? 'unauthenticated' : 'host'} ${host}`, bytesMax: ofHost }])
    ]
  }

  /**
   * Reads a whole body, byte for byte. `held` reserves its memory before allocation.
   * @throws SoukError `request_too_large`, `unsupported_media_type`, `overloaded`; `invalid_request` if it arrives too slowly; `call_interrupted` if the client
   * disconnects
   */
  read({ req, res }: BodyExchange, bytesMax: number, held: HeldBytes): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (!hasBody(req)) return resolve(EMPTY)
      // Its client left before, so no event follows.
      if (req.destroyed) throw clientLeft()
      checkCoding(req)
      const announced = lengthOf(req)
      if (announced !== undefined && announced > bytesMax) throw tooLarge(bytesMax)
      // Refuse before reading if the announced length is already too much.
      held.check(announced ?? 0)
      if (req.headers.expect !== undefined) res?.writeContinue()
      const body = new GrowingBody(announced, bytesMax, held)
      const onData = (chunk: Uint8Array) => {
        try {
          body.push(chunk)
        } catch (error) {
          settle(() => reject(error))
        }
      }
      const onEnd = () => settle(() => resolve(body.bytes()))
      const onGone = () => settle(() => reject(clientLeft()))
      const stopWatch = req.complete ? () => {} : this.#watchPace(body, (error) => settle(() => reject(error)))
      const settle = (outcome: () => void) => {
        stopWatch()
        req.off('data', onData).off('end', onEnd).off('close', onGone)
        outcome()
      }
      req.on('data', onData).on('end', onEnd).on('close', onGone)
    })
  }

  /** Ends a body that arrives too slowly: an idle upload would hold memory that others need. */
  #watchPace(body: GrowingBody, onSlow: (error: SoukError) => void): () => void {
    let before = 0
    const look = () =>
      this.#clock.after(this.#windowMs, () => {
        if (body.length - before < limits.BODY_WINDOW_BYTES_MIN) {
          onSlow(new SoukError('invalid_request', 'The request body did not arrive in time.'))
          return
        }
        before = body.length
        timer = look()
      })
    let timer = look()
    return () => timer.cancel()
  }
}

/** The announced length; undefined for a chunked body. Transfer-Encoding overrides Content-Length (RFC 9112 §6.3). */
function lengthOf({ headers }: IncomingMessage): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined
}

/**
 * One buffer that grows with the bytes received, not with the announced length. Chunks are copied: a list of one-byte chunks would take a
 * hundred times their size.
 */
class GrowingBody {
  readonly #announced: number | undefined
  readonly #bytesMax: number
  readonly #held: HeldBytes
  #buffer: Uint8Array = EMPTY
  #length = 0

  constructor(announced: number | undefined, bytesMax: number, held: HeldBytes) {
    this.#announced = announced
    this.#bytesMax = bytesMax
    this.#held = held
  }

  get length(): number {
    return this.#length
  }

  /** @throws SoukError `request_too_large`, `overloaded` */
  push(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#bytesMax) throw tooLarge(this.#bytesMax)
    // Most bodies arrive in one chunk.
    if (length === this.#announced && this.#length === 0) {
      this.#held.take(length)
      this.#buffer = chunk
    } else {
      if (length > this.#buffer.length) this.#grow(length)
      this.#buffer.set(chunk, this.#length)
      free(chunk)
    }
    this.#length = length
  }

  bytes(): Uint8Array {
    return this.#length === this.#buffer.length ? this.#buffer : this.#buffer.subarray(0, this.#length)
  }

  #grow(length: number): void {
    const doubled = Math.max(length, 2 * this.#buffer.length, FIRST_BYTES)
    const size = Math.min(doubled, this.#announced ?? this.#bytesMax)
    this.#held.take(size - this.#buffer.length)
    const larger = Buffer.allocUnsafeSlow(size)
    larger.set(this.#buffer.subarray(0, this.#length))
    free(this.#buffer)
    this.#buffer = larger
  }
}

/** Frees copied bytes. A part of a larger buffer stays. */
function free({ buffer, length }: Uint8Array): void {
  if (length > 0 && length === buffer.byteLength) freeBuffer(buffer)
}

const clientLeft = () => new SoukError('call_interrupted', 'The client disconnected.')
