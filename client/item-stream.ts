import { type AnswerHead, bodyOf, broken } from './answer.ts'
import { checkItem, Lines } from './lines.ts'
import { isSoukError, jsonOrText, SoukError } from './souk-error.ts'

/** One item of a stream. */
export interface StreamItem<Data> {
  /** An event's data or a line: JSON parsed, other text as it is. */
  readonly data: Data
  /** The name of a server-sent event. */
  readonly event?: string
  /** The id of a server-sent event, to continue after it by the header `Last-Event-ID`. */
  readonly id?: string
}

/** A stream. It can be read once; the call starts with the first item or with `head`. Leaving the loop ends the call. */
export interface ItemStream<Data> extends AsyncIterable<StreamItem<Data>> {
  /** Resolves when the stream is open. It stays open until it is read or aborted. */
  head(): Promise<AnswerHead>
}

export interface OpenStream {
  readonly head: AnswerHead
  readonly response: Response
}

/** @param open makes the call. It is called once */
export function itemStream<Data>(open: () => Promise<OpenStream>, signal: AbortSignal | undefined): ItemStream<Data> {
  let opening: Promise<OpenStream> | undefined
  const opened = () => (opening ??= open())
  let isRead = false
  return {
    head: async () => (await opened()).head,
    async *[Symbol.asyncIterator]() {
      if (isRead) throw new SoukError('invalid_request', 'A stream can be read only once.')
      isRead = true
      yield* itemsOf(await opened(), signal) as AsyncIterable<StreamItem<Data>>
    }
  }
}

/** A response of another type is one item. */
async function* itemsOf(
  { head, response }: OpenStream,
  signal: AbortSignal | undefined
): AsyncIterable<StreamItem<unknown>> {
  const split = splitterFor(response.headers.get('content-type') ?? '')
  if (split === undefined || response.body === null) {
    yield { data: await bodyOf(response, head, undefined) }
    return
  }
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  try {
    for (let isOver = false; !isOver; ) {
      const { done, value } = await reader.read()
      isOver = done
      for (const item of split(decoder.decode(value, { stream: !done }), done)) {
        if (item === 'complete') return
        yield item
      }
    }
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    // The price of the events is unknown here.
    throw isSoukError(error) ? error : broken({ ...head, charged: null }, error)
  } finally {
    // Ends the call, unless the stream is over.
    void reader.cancel().catch(() => undefined)
  }
}

type Item = StreamItem<unknown> | 'complete'
/** Takes the next text and returns the items that it completes. `isOver` says that no more text follows. */
type Splitter = (text: string, isOver: boolean) => Item[]

const EVENTS = /^text\/event-stream\s*(?:;|$)/i
/** One JSON text a line, or after a record separator (RFC 7464). */
const LINES = /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines|jsonlines|json-seq|stream\+json)\s*(?:;|$)/i

function splitterFor(contentType: string): Splitter | undefined {
  if (EVENTS.test(contentType)) return eventSplitter()
  return LINES.test(contentType) ? lineSplitter() : undefined
}

function lineSplitter(): Splitter {
  const lines = new Lines()
  return (text, isOver) =>
    [...lines.push(text), ...(isOver ? [lines.rest] : [])]
      .map((line) => line.replace('\u001E', '').trim())
      .filter((line) => line !== '')
      .map((line) => ({ data: jsonOrText(line) }))
}

/** Server-sent events (WHATWG HTML, section 9.2.6). The end of the stream completes no event. */
function eventSplitter(): Splitter {
  const lines = new Lines()
  let [event, id, data, chars]: [string, string, string[], number] = ['', '', [], 0]
  const take = (line: string): Item[] => {
    const [, field, value = ''] = /^([^:]*):? ?([^]*)$/.exec(line) ?? []
    if (field === 'event') event = value
    if (field === 'data') {
      // Empty lines need memory too.
      checkItem((chars += line.length + 1))
      data.push(value)
    }
    if (field === 'id' && !value.includes('\0')) id = value
    if (line !== '') return []
    const [name, text, isEmpty] = [event, data.join('\n'), data.length === 0]
    ;[event, data, chars] = ['', [], 0]
    if (name === 'souk-end') throw endedBy(text)
    // GraphQL over SSE ends an operation by an event without data.
    if (name === 'complete' && text === '') return ['complete']
    return isEmpty ? [] : [{ data: jsonOrText(text), ...(name && { event: name }), ...(id && { id }) }]
  }
  return (text) => lines.push(text).flatMap(take)
}

/** The ingress ended the stream, for example because the next event would exceed the price limit. */
function endedBy(text: string): SoukError {
  const { code, detail } = Object(jsonOrText(text)) as { code?: string; detail?: string }
  return new SoukError(code ?? 'response_broken', detail ?? 'The stream ended early.', {
    source: 'ingress',
    status: 200,
    charged: null
  })
}
