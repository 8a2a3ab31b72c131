import { utf8 } from '../../lib/base/bytes.ts'
import { type Clock, systemClock, type Timer } from '../../lib/base/clock.ts'
import { isSoukError, SoukError } from '../../lib/base/errors.ts'
import { parseExactly, rawNumber } from '../../lib/base/exact-json.ts'
import { nestsDeeperThan } from '../../lib/base/json-text.ts'
import { RESPONSE_BYTES_MAX, RESPONSE_JSON_DEPTH_MAX } from '../../lib/base/limits/call.ts'
import { SSE_HEARTBEAT_MS } from '../../lib/base/limits/upstream.ts'
import { EventLines } from '../event-lines.ts'

/** One event of a stream (WHATWG HTML, section 9.2). */
export interface ServerEvent {
  readonly event?: string
  readonly id?: string
  /** The parsed JSON, whose numbers `JSON.stringify` writes as the API did; or the text if it is not JSON. */
  readonly data: unknown
}

export interface Collected {
  readonly events: readonly ServerEvent[]
  /** True if the API ended the stream; false if a limit ended it. */
  readonly complete: boolean
}

export interface CollectBounds {
  readonly maxEvents: number
  readonly maxMs: number
}

/** A comment, which readers ignore. */
const HEARTBEAT = utf8(':\n\n')
const LINE_FEED = 0x0a
/** The JSON levels around an event's data: the `Collected` object, its list, the event. */
const EVENT_DEPTH = 3
const RETURN = 0x0d

export function isEventStream(contentType: string | undefined): boolean {
  return contentType !== undefined && /^text\/event-stream\s*(?:;|$)/i.test(contentType.trim())
}

/**
 * Collects the events of a stream up to a maximum number or time, then closes the stream.
 * @throws SoukError `response_too_large`, and the errors of the stream
 */
export async function collectEvents(
  body: AsyncIterable<Uint8Array>,
  { maxEvents, maxMs }: CollectBounds,
  clock: Clock = systemClock
): Promise<Collected> {
  const source: AsyncIterator<Uint8Array, unknown> = body[Symbol.asyncIterator]()
  const parser = new EventParser(maxEvents)
  const time = { isUp: false }
  const timer = clock.after(maxMs, () => {
    time.isUp = true
    void source.return?.()
  })
  let bytes = 0
  try {
    while (!time.isUp && parser.events.length < maxEvents) {
      const next = await source.next()
      if (next.done === true) return { events: parser.events, complete: !time.isUp }
      bytes += next.value.length
      if (bytes > RESPONSE_BYTES_MAX) throw new SoukError('response_too_large', undefined, { source: 'upstream' })
      parser.push(next.value)
    }
  } catch (error) {
    // Closing the stream ends a pending read with an error.
    if (!time.isUp || !isSoukError(error) || error.code !== 'call_interrupted') throw error
  } finally {
    timer.cancel()
    await source.return?.()
  }
  return { events: parser.events, complete: false }
}

class EventParser {
  readonly events: ServerEvent[] = []
  readonly #most: number
  readonly #decoder = new TextDecoder()
  readonly #lines = new EventLines()
  #type = ''
  #id: string | undefined
  #data: string[] = []

  constructor(most: number) {
    this.#most = most
  }

  push(chunk: Uint8Array): void {
    for (const line of this.#lines.push(this.#decoder.decode(chunk, { stream: true }))) this.#line(line)
  }

  #line(line: string): void {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#type = value
    else if (name === 'data') this.#data.push(value)
    else if (name === 'id' && !value.includes('\0')) this.#id = value
  }

  #dispatch(): void {
    const [type, data] = [this.#type, this.#data]
    this.#type = ''
    this.#data = []
    if (data.length === 0 || this.events.length >= this.#most) return
    this.events.push({
      ...(type === '' ? {} : { event: type }),
      ...(this.#id === undefined ? {} : { id: this.#id }),
      data: jsonOrText(data.join('\n'))
    })
  }
}

function jsonOrText(text: string): unknown {
  // The event becomes a part of a larger document, so its depth is limited.
  if (nestsDeeperThan(utf8(text), RESPONSE_JSON_DEPTH_MAX - EVENT_DEPTH)) return text
  try {
    return parseExactly(text, rawNumber)
  } catch {
    return text
  }
}

/** Adds a comment after each silence, only between events, so that intermediaries keep the stream open. */
export function withHeartbeat(body: AsyncIterable<Uint8Array>, clock: Clock = systemClock): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => beating(body[Symbol.asyncIterator](), clock) }
}

function beating(source: AsyncIterator<Uint8Array>, clock: Clock): AsyncIterator<Uint8Array> {
  let pending: Promise<IteratorResult<Uint8Array>> | undefined
  // At the start, or after an empty line.
  let last: [number, number] = [LINE_FEED, LINE_FEED]
  return {
    async next() {
      if (pending === undefined) {
        pending = source.next()
        // The read may fail before it is awaited. The next iteration awaits it and reports the error.
        pending.catch(() => {})
      }
      const isBetween = last[1] === last[0] || (last[0] === RETURN && last[1] === LINE_FEED)
      const isWhole = isBetween && (last[1] === LINE_FEED || last[1] === RETURN)
      let timer: Timer | undefined
      const silence = new Promise<undefined>((resolve) => {
        if (isWhole) timer = clock.after(SSE_HEARTBEAT_MS, () => resolve(undefined))
      })
      const result = await Promise.race([pending, silence]).finally(() => timer?.cancel())
      if (result === undefined) return { done: false, value: HEARTBEAT }
      pending = undefined
      if (result.done === true) return { done: true, value: undefined }
      for (const byte of result.value.subarray(-2)) last = [last[1], byte]
      return result
    },
    async return() {
      await source.return?.()
      return { done: true, value: undefined }
    }
  }
}
