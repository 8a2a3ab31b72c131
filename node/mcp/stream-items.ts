const EVENTS = /^text\/event-stream\s*(?:;|$)/i
/** One JSON text a line, or after a record separator (RFC 7464). */
const LINES = /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines|jsonlines|json-seq|stream\+json)\s*(?:;|$)/i

const RECORD_SEPARATOR = '\u001E'

/** Takes a chunk of a stream and returns the items that it completes. */
export type Splitter = (chunk: Uint8Array) => readonly string[]

/** Splits a stream into the data of its events, or its lines. Undefined for other types. */
export function splitterFor(contentType: string): Splitter | undefined {
  const type = contentType.trim()
  if (EVENTS.test(type)) return eventSplitter()
  return LINES.test(type) ? lineSplitter((line) => line.replace(RECORD_SEPARATOR, '').trim()) : undefined
}

/** The data of server-sent events (WHATWG HTML, section 9.2). */
export function eventSplitter(): Splitter {
  const lines = lineSplitter((line) => line)
  let data: string[] = []
  return (chunk) =>
    lines(chunk).flatMap((line) => {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      if (line !== '') return []
      const [event, isEmpty] = [data.join('\n'), data.length === 0]
      data = []
      return isEmpty ? [] : [event]
    })
}

function lineSplitter(read: (line: string) => string): Splitter {
  const decoder = new TextDecoder()
  let parts: string[] = []
  return (chunk) => {
    const text = decoder.decode(chunk, { stream: true })
    const mayEnd = parts.at(-1)?.endsWith('\r') === true || /[\r\n]/.test(text)
    parts.push(text)
    // A line may be as long as the whole stream, so it is split only when a line end arrives.
    if (!mayEnd) return []
    // A carriage return at the end may be the first half of a line end.
    const lines = parts.join('').split(/\r\n|\n|\r(?!$)/)
    parts = [lines.pop() ?? '']
    return lines.map(read)
  }
}
