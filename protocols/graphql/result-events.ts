import { utf8 } from '../../lib/base/bytes.ts'
import type { Clock } from '../../lib/base/clock.ts'
import { EVENTS_HEARTBEAT_MS } from '../../lib/base/limits/call.ts'
import { GRAPHQL_OPENING_MS } from '../../lib/base/limits/graphql.ts'
import type { EventFrames } from '../../lib/interface/adapter.ts'
import { soon, startingWith } from '../pending-read.ts'
import { outlineOf } from './graphql-response.ts'

/** The results of one operation as JSON texts. `return` aborts the operation, even while a `next` is pending. */
export type Results = AsyncIterator<string, undefined>

/** How results are written into the body of a response. */
export interface ResultFraming {
  readonly contentType: string
  /** The beginning, which shows that the stream is open. */
  readonly open: Uint8Array
  /** Shows proxies and browsers that the stream is alive. */
  readonly heartbeat: Uint8Array
  readonly complete: Uint8Array
  /** @param result JSON */
  readonly next: (result: string) => Uint8Array
  /** Each result is an event. */
  readonly frames: EventFrames
}

/** The "distinct connections mode" of GraphQL over SSE: one event per result, and one at the end. */
export const SSE: ResultFraming = framing({
  contentType: 'text/event-stream; charset=utf-8',
  open: ':\n\n',
  heartbeat: ':\n\n',
  complete: 'event: complete\ndata: \n\n',
  before: 'event: next\ndata: ',
  // A line break ends a line of the field. In JSON, line breaks occur only between tokens, so the text may be split there.
  result: (json) => `${json.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
})

/** Apollo's multipart protocol for subscriptions: each result is a part, followed at once by the next boundary. */
export const MULTIPART: ResultFraming = framing({
  contentType: 'multipart/mixed; boundary="graphql"; subscriptionSpec="1.0"',
  open: '\r\n--graphql',
  heartbeat: '\r\ncontent-type: application/json\r\n\r\n{}\r\n--graphql',
  complete: '--\r\n',
  before: '\r\ncontent-type: application/json\r\n\r\n{"payload":',
  result: (json) => `${json}}\r\n--graphql`
})

interface FramingTexts {
  readonly contentType: string
  readonly open: string
  readonly heartbeat: string
  readonly complete: string
  /** Begins each event. */
  readonly before: string
  readonly result: (json: string) => string
}

function framing({ contentType, open, heartbeat, complete, before, result }: FramingTexts): ResultFraming {
  const start = utf8(before)
  const end = utf8(complete)
  const next = (json: string) => utf8(before + result(json))
  return {
    contentType,
    open: utf8(open),
    heartbeat: utf8(heartbeat),
    complete: end,
    next,
    frames: {
      isEvent: (chunk) => Buffer.compare(chunk.subarray(0, start.length), start) === 0,
      ended: ({ code, message }) =>
        Buffer.concat([next(JSON.stringify({ errors: [{ message, extensions: { code } }] })), end])
    }
  }
}

/** One result as a complete stream. */
export function oneEvent(result: string, { open, next, complete }: ResultFraming): Uint8Array {
  return Buffer.concat([open, next(result), complete])
}

/** The beginning of an operation. */
export type Opening =
  /** The operation continues. `results` includes the results received so far. */
  | { readonly results: Results }
  /** The operation ended at once, with an error or without a result. */
  | { readonly ended: string | undefined }

/**
 * Waits shortly for the API to reject an operation. After that, the operation counts as open.
 * @throws the errors of `results` in that time
 */
export async function opening(results: Results, clock: Clock, signal: AbortSignal): Promise<Opening> {
  const first = results.next()
  const heard = await soon(first, GRAPHQL_OPENING_MS, clock, signal)
  if (heard === undefined) return { results: startingWith(first, results) }
  if (heard.done === true) return { ended: undefined }
  if (outlineOf(heard.value)?.hasData === true) return { results: startingWith(first, results) }
  await results.return?.()
  return { ended: heard.value }
}

/**
 * The stream for a consumer.
 * @param eventsMax the number of paid events; the stream completes after them
 */
export function eventStream(
  results: Results,
  clock: Clock,
  { open, heartbeat, complete, next }: ResultFraming,
  eventsMax = Infinity
): AsyncIterable<Uint8Array> {
  let waiting: Promise<IteratorResult<string, undefined>> | undefined
  let left = eventsMax
  let isOver = false
  let isOpen = false
  const over = async (): Promise<void> => {
    isOver = true
    await results.return?.()
  }
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    async next() {
      if (isOver) return { done: true, value: undefined }
      if (!isOpen) {
        isOpen = true
        return { done: false, value: open }
      }
      if (left === 0) {
        await over()
        return { done: false, value: complete }
      }
      waiting ??= results.next()
      const heard = await soon(waiting, EVENTS_HEARTBEAT_MS, clock)
      if (heard === undefined) return { done: false, value: heartbeat }
      waiting = undefined
      if (heard.done === true) {
        isOver = true
        return { done: false, value: complete }
      }
      left--
      return { done: false, value: next(heard.value) }
    },
    async return() {
      if (!isOver) await over()
      return { done: true, value: undefined }
    }
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
