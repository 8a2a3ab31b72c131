import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { Fifo } from '../../lib/base/fifo.ts'
import { SSE_EVENT_BYTES_MAX } from '../../lib/base/limits/upstream.ts'
import type { EventFrames } from '../../lib/interface/adapter.ts'

const LINE_FEED = 0x0a
const RETURN = 0x0d
/** A line of the field `data`. Without one, the blank line dispatches no event (WHATWG HTML, section 9.2.6). */
const DATA = /(?:^|[\r\n])(?:\u00ef\u00bb\u00bf)?data(?:[:\r\n]|$)/

/** The frames of a REST API's events, after `singleEvents` split them. */
export const SSE_FRAMES: EventFrames = {
  isEvent: (chunk) => DATA.test(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')),
  ended: ({ code, message }) => utf8(`event: souk-end\ndata: ${JSON.stringify({ code, detail: message })}\n\n`)
}

/**
 * The same bytes, split after each blank line: each chunk is one event, or the content between two.
 * @throws (from `next`) SoukError `response_too_large`, and the errors of the body
 */
export function singleEvents(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => cutting(body[Symbol.asyncIterator]()) }
}

function cutting(source: AsyncIterator<Uint8Array>): AsyncIterator<Uint8Array, undefined> {
  const whole = new Fifo<Uint8Array>()
  const cutter = new Cutter()
  let isOver = false
  return {
    async next() {
      for (;;) {
        const value = whole.shift()
        if (value !== undefined) return { done: false, value }
        if (isOver) return { done: true, value: undefined }
        const result = await source.next()
        if (result.done === true) {
          isOver = true
          for (const event of cutter.rest()) whole.push(event)
        } else {
          for (const event of cutter.cut(result.value)) whole.push(event)
        }
        if (cutter.held <= SSE_EVENT_BYTES_MAX) continue
        isOver = true
        await source.return?.()
        throw new SoukError('response_too_large', 'The API sends an event that is too large.', { source: 'upstream' })
      }
    },
    async return() {
      isOver = true
      whole.clear()
      await source.return?.()
      return { done: true, value: undefined }
    }
  }
}

/** Finds blank lines. A line ends with a line feed, a carriage return, or both. */
class Cutter {
  #parts: Uint8Array[] = []
  held = 0
  #isLineEmpty = true
  /** True if the last byte was a carriage return, whose line feed may follow. */
  #isHalf = false

  cut(chunk: Uint8Array): Uint8Array[] {
    const found: Uint8Array[] = []
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      const isEnd = byte === RETURN || (byte === LINE_FEED && !this.#isHalf)
      this.#isHalf = byte === RETURN
      if (byte === LINE_FEED && !isEnd) continue
      const isBlank = isEnd && this.#isLineEmpty
      this.#isLineEmpty = isEnd
      if (!isBlank) continue
      // A line feed that has arrived belongs to the event; an event does not wait for one.
      if (this.#isHalf && chunk[i + 1] === LINE_FEED) {
        this.#isHalf = false
        i++
      }
      found.push(this.#take(chunk.subarray(start, i + 1)))
      start = i + 1
    }
    const rest = chunk.subarray(start)
    if (rest.length > 0) {
      this.#parts.push(rest)
      this.held += rest.length
    }
    return found
  }

  /** The rest after the last blank line. */
  rest(): Uint8Array[] {
    return this.held === 0 ? [] : [this.#take(new Uint8Array(0))]
  }

  #take(last: Uint8Array): Uint8Array {
    const event = this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.held = 0
    return event
  }
}
