import type { Stream } from '@libp2p/interface'
import { systemClock } from '../../lib/index.ts'
import { readVarint, varint } from './message.ts'

/** A stream of messages, each after its length. */
export class FramedStream {
  readonly #stream: Stream
  readonly #frames: Uint8Array[] = []
  #rest: Uint8Array = new Uint8Array(0)
  #isOver = false
  #wake: (() => void) | undefined

  constructor(stream: Stream) {
    this.#stream = stream
    stream.addEventListener('message', ({ data }) => this.#push(data.subarray()))
    stream.addEventListener('remoteCloseWrite', () => this.#end())
    stream.addEventListener('close', () => this.#end())
  }

  get isOver(): boolean {
    return this.#isOver
  }

  send(frame: Uint8Array): void {
    this.sendRaw(Buffer.concat([varint(BigInt(frame.length)), frame]))
  }

  /** Does nothing on a stream that the peer has reset. */
  sendRaw(bytes: Uint8Array): void {
    if (!this.#isOver) this.#stream.send(bytes)
  }

  /** The next message; undefined at the end of the stream. @throws Error if nothing comes in time */
  async next(timeoutMs: number): Promise<Uint8Array | undefined> {
    let isLate = false
    const timer = systemClock.after(timeoutMs, () => {
      isLate = true
      this.#wake?.()
    })
    try {
      for (;;) {
        const frame = this.#frames.shift()
        if (frame !== undefined || this.#isOver) return frame
        if (isLate) throw new Error(`nothing came within ${Math.round(timeoutMs)} ms`)
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      timer.cancel()
    }
  }

  /** Waits until the peer ends the stream. @throws Error if it does not */
  async ended(timeoutMs: number): Promise<void> {
    const until = systemClock.elapsed() + timeoutMs
    while (!this.#isOver) await this.next(Math.max(1, until - systemClock.elapsed()))
  }

  /** Ends this side, without an error. */
  async close(): Promise<void> {
    await this.#stream.close()
  }

  reset(): void {
    this.#stream.abort(new Error('the check is over'))
  }

  #push(data: Uint8Array): void {
    let rest: Uint8Array = Buffer.concat([this.#rest, data])
    for (;;) {
      const length = readVarint(rest)
      if (length === undefined || rest.length < length.end + Number(length.value)) break
      const end = length.end + Number(length.value)
      this.#frames.push(rest.subarray(length.end, end))
      rest = rest.subarray(end)
    }
    this.#rest = rest
    this.#wake?.()
  }

  #end(): void {
    this.#isOver = true
    this.#wake?.()
  }
}
