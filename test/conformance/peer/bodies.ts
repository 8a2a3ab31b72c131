import type { Connection, Stream } from '@libp2p/interface'
import { Cutter, prefixed } from './wire.ts'

const OPEN_MS = 5_000
const CHUNK_BYTES_MAX = 65_536
const TAG_BYTES = 17

/** A request's body on its own stream. */
export interface Body {
  /** All of it; undefined if it broke off, or did not end in time. */
  whole(timeoutMs: number): Promise<Uint8Array | undefined>
}

/** Matches streams of bodies with their requests, whichever comes first. */
export class Bodies {
  readonly #streams = new Map<string, Body>()
  readonly #wanted = new Map<string, (body: Body) => void>()
  readonly #takesCut: boolean

  constructor(takesCut = false) {
    this.#takesCut = takesCut
  }

  take(stream: Stream, peer: string): void {
    const cutter = new Cutter(CHUNK_BYTES_MAX)
    const chunks: Uint8Array[] = []
    const result = Promise.withResolvers<Uint8Array | undefined>()
    const body: Body = {
      whole: (timeoutMs) => Promise.race([result.promise, after(timeoutMs)])
    }
    let tag: string | undefined
    stream.addEventListener('message', ({ data }) => {
      try {
        for (const piece of cutter.push(data.subarray())) {
          if (tag === undefined) {
            if (piece.length !== TAG_BYTES) throw new Error('another tag')
            tag = peer + Buffer.from(piece).toString('hex')
            const wanted = this.#wanted.get(tag)
            if (wanted === undefined) this.#streams.set(tag, body)
            else wanted(body)
          } else if (piece.length === 0) {
            result.resolve(Buffer.concat(chunks))
            void stream.close()
          } else {
            chunks.push(Uint8Array.from(piece))
          }
        }
      } catch (error) {
        stream.abort(error as Error)
      }
    })
    stream.addEventListener('close', () => result.resolve(undefined))
    stream.addEventListener('remoteCloseWrite', () =>
      result.resolve(this.#takesCut ? Buffer.concat(chunks) : undefined)
    )
  }

  /** The body of a request; undefined if its stream does not open in time. */
  async opened(peer: string, requestId: Uint8Array, timeoutMs: number): Promise<Body | undefined> {
    const tag = `${peer}${Buffer.from(requestId).toString('hex')}00`
    const here = this.#streams.get(tag)
    this.#streams.delete(tag)
    if (here !== undefined) return here
    const coming = new Promise<Body>((resolve) => this.#wanted.set(tag, resolve))
    const body = await Promise.race([coming, after(Math.min(OPEN_MS, timeoutMs))])
    this.#wanted.delete(tag)
    return body
  }
}

/** Sends a response's body on a stream of its own. */
export async function sendBody(connection: Connection, requestId: Uint8Array, body: Uint8Array): Promise<void> {
  const stream = await connection.newStream('/souk/bulk/1.0.0')
  stream.send(prefixed(Buffer.concat([requestId, Uint8Array.of(1)])))
  for (let at = 0; at < body.length; at += CHUNK_BYTES_MAX) {
    const hasRoom = stream.send(prefixed(body.subarray(at, at + CHUNK_BYTES_MAX)))
    if (!hasRoom) await once(stream, 'drain')
  }
  stream.send(prefixed(new Uint8Array(0)))
  await stream.close()
}

function once(stream: Stream, event: 'drain'): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.addEventListener(event, () => resolve(), { once: true })
    stream.addEventListener('close', () => reject(new Error('the reader closed the stream')), { once: true })
  })
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref()
  })
}
