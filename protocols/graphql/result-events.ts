import { utf8 } from '../../lib/base/bytes.ts'
import { type Clock, sleep } from '../../lib/base/clock.ts'
import { EVENTS_HEARTBEAT_MS, GRAPHQL_OPENING_MS } from '../../lib/base/limits.ts'
import type { EventFrames } from '../../lib/interface/adapter.ts'
import { type GraphqlResponse, responseOf } from './graphql-response.ts'

/** Results of one operation as JSON texts, pulled; `return` gives the operation up, also while a `next` waits. */
export type Results = AsyncIterator<string, undefined>

/** In "distinct connections mode" of GraphQL over SSE: an event for each result, and one when there are no more. */
const COMPLETE = utf8('event: complete\ndata: \n\n')
/** Read by nobody: it makes proxies and browsers see that the stream lives. */
const COMMENT = utf8(':\n\n')

function nextEvent(result: string): Uint8Array {
  // A line break inside a value ends a line of the field; JSON has them between its tokens only.
  return utf8(`event: next\ndata: ${result.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`)
}

/** Of a stream that `eventStream` makes: each result is an event. */
export const RESULT_FRAMES: EventFrames = {
  isEvent: (chunk) => Buffer.compare(chunk.subarray(0, NEXT.length), NEXT) === 0,
  ended: ({ code, message }) => oneEvent(JSON.stringify({ errors: [{ message, extensions: { code } }] }))
}
const NEXT = utf8('event: next\n')

/** One result as a whole stream. */
export function oneEvent(result: string): Uint8Array {
  return Buffer.concat([nextEvent(result), COMPLETE])
}

/** How an operation began. */
export type Opening =
  /** It goes on: what was heard of it so far is still to come from `results`. */
  | { readonly results: Results }
  /** It was over at once: it failed, or had nothing to say. */
  | { readonly ended: Uint8Array }

/**
 * Gives an API a moment to refuse an operation. After that it counts as open.
 * @throws what `results` throws in that time
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
      // Nobody may wait for it any more.
      first.catch(() => undefined)
      await rest.return?.()
      return { done: true, value: undefined }
    }
  }
}

/** The stream that a consumer reads. @param eventsMax - as many are paid for: past them the stream is complete */
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

/** What the promise brings, or undefined when the time is up first. */
async function soon<T>(promise: Promise<T>, ms: number, clock: Clock, signal?: AbortSignal): Promise<T | undefined> {
  const ended = new AbortController()
  const signals = signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal])
  try {
    return await Promise.race([promise, sleep(clock, ms, signals).then(() => undefined)])
  } finally {
    ended.abort()
  }
}
