import { SoukError } from '../../lib/base/errors.ts'
import { Fifo } from '../../lib/base/fifo.ts'
import { GRAPHQL_EVENT_BYTES_MAX } from '../../lib/base/limits/graphql.ts'
import { EventLines } from '../event-lines.ts'
import type { Results } from './result-events.ts'

/**
 * Results from Server-Sent Events (HTML Living Standard, section 9.2.6), one per event `next`, up to `complete` or the end of the
 * stream. An event without a name counts as `next`. Comments and other events are ignored.
 *
 * @throws (from `next`) SoukError `response_too_large`, and the errors of the body
 */
export function sseResults(body: AsyncIterable<Uint8Array>): Results {
  const source = body[Symbol.asyncIterator]()
  const decoder = new TextDecoder()
  const lines = new EventLines()
  const events = new Fifo<{ readonly type: string; readonly data: string }>()
  let type = ''
  let data: string[] = []
  let held = 0
  let isOver = false

  function readLine(line: string): void {
    if (line === '') {
      if (data.length > 0 || type !== '') events.push({ type, data: data.join('\n') })
      type = ''
      data = []
      held = 0
      return
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') type = value
    if (field !== 'data') return
    // With its line end, which lines without a value have too.
    held += value.length + 1
    data.push(value)
  }

  function read(chunk: string): void {
    for (const line of lines.push(chunk)) readLine(line)
    if (lines.held + held > GRAPHQL_EVENT_BYTES_MAX) {
      throw new SoukError('response_too_large', 'The API sends an event that is too large.', { source: 'upstream' })
    }
  }

  async function next(): Promise<IteratorResult<string, undefined>> {
    for (;;) {
      const event = events.shift()
      if (event?.type === 'next' || event?.type === '') return { done: false, value: event.data }
      if (event?.type === 'complete') break
      if (event !== undefined) continue
      if (isOver) return { done: true, value: undefined }
      const chunk = await source.next()
      if (chunk.done === true) isOver = true
      else read(decoder.decode(chunk.value, { stream: true }))
    }
    isOver = true
    events.clear()
    await source.return?.()
    return { done: true, value: undefined }
  }

  return {
    async next() {
      try {
        return await next()
      } catch (error) {
        isOver = true
        await source.return?.()
        throw error
      }
    },
    async return() {
      isOver = true
      events.clear()
      await source.return?.()
      return { done: true, value: undefined }
    }
  }
}
