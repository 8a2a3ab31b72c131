import { utf8 } from '../../lib/base/bytes.ts'
import { type Clock, sleep } from '../../lib/base/clock.ts'
import { EVENTS_HEARTBEAT_MS } from '../../lib/base/limits/call.ts'
import { GRAPHQL_OPENING_MS } from '../../lib/base/limits/graphql.ts'
import type { EventFrames } from '../../lib/interface/adapter.ts'
import { type GraphqlResponse, responseOf } from './graphql-response.ts'

/** The results of one operation as JSON texts. `return` aborts the operation, even while a `next` is pending. */
export type Results = AsyncIterator<string, undefined>

/** The "distinct connections mode" of GraphQL over SSE: one event per result, and one at the end. */
const COMPLETE = utf8('event: complete\ndata: \n\n')
/** A comment, which shows proxies and browsers that the stream is alive. */
const COMMENT = utf8(':\n\n')

function nextEvent(result: string): Uint8Array {
  // A line break ends a line of the field. In JSON, line breaks occur only between tokens, so the text may be split there.
  return utf8(`event: next\ndata: ${result.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`)
}

/** The frames of an `eventStream`: each result is an event. */
export const RESULT_FRAMES: EventFrames = {
  isEvent: (chunk) => Buffer.compare(chunk.subarray(0, NEXT.length), NEXT) === 0,
  ended: ({ code, message }) => oneEvent(JSON.stringify({ errors: [{ message, extensions: { code } }] }))
}
const NEXT = utf8('event: next\n')

/** One result as a complete stream. */
export function oneEvent(result: string): Uint8Array {
  return Buffer.concat([nextEvent(result), COMPLETE])
}

/** The beginning of an operation. */
export type Opening =
  /** The operation continues. `results` includes the results received so far. */
  | { readonly results: Results }
  /** The operation ended at once, with an error or without results. */
  | { readonly ended: Uint8Array }

/**
 * Waits shortly for the API to reject an operation. After that, the operation counts as open.
 * @throws the errors of `results` in that time
 */
export async function opening(results: Results, clock: Clock, signal: AbortSignal): Promise<Opening> {
  const first = results.next()
  const heard = await soon(first, GRAPHQL_OPENING_MS, clock, signal)
  if (heard === undefined) return { results: startingWith(first, results) }
  if (heard.done === true) return { ended: COMPLETE }
  if (hasData(responseOf(heard.value))) return { results: startingWith(first, results) }
  await results.return?.()
  return { ended: oneEvent(heard.value) }
}

function hasData(response: GraphqlResponse | undefined): boolean {
  return response?.data != null
}

function startingWith(first: Promise<IteratorResult<string, undefined>>, rest: Results): Results {
  let isFirst = true
  return {
    next() {
      if (!isFirst) return rest.next()
      isFirst = false
      return first
    },
    async return() {
      // The result may be unused, so its error must not be unhandled.
      first.catch(() => undefined)
      await rest.return?.()
      return { done: true, value: undefined }
    }
  }
}

/**
 * The stream for a consumer.
 * @param eventsMax the number of paid events; the stream completes after them
 */
export function eventStream(results: Results, clock: Clock, eventsMax = Infinity): AsyncIterable<Uint8Array> {
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
        return { done: false, value: COMMENT }
      }
      if (left === 0) {
        await over()
        return { done: false, value: COMPLETE }
      }
      waiting ??= results.next()
      const heard = await soon(waiting, EVENTS_HEARTBEAT_MS, clock)
      if (heard === undefined) return { done: false, value: COMMENT }
      waiting = undefined
      if (heard.done === true) {
        isOver = true
        return { done: false, value: COMPLETE }
      }
      left--
      return { done: false, value: nextEvent(heard.value) }
    },
    async return() {
      if (!isOver) await over()
      return { done: true, value: undefined }
    }
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/** The result of the promise, or undefined if the time is up first. */
async function soon<T>(promise: Promise<T>, ms: number, clock: Clock, signal?: AbortSignal): Promise<T | undefined> {
  const ended = new AbortController()
  const signals = signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal])
  try {
    return await Promise.race([promise, sleep(clock, ms, signals).then(() => undefined)])
  } finally {
    ended.abort()
  }
}
