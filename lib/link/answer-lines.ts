import { encode } from 'uint8-varint'
import { Uint8ArrayList } from 'uint8arraylist'
import { text, utf8 } from '../base/bytes.ts'
import { SELECT_BYTES_MAX, SELECT_LINES_MAX } from '../base/limits/link.ts'
import { checkMessages, type Receiving } from './checked-lengths.ts'

export const VERSION = '/multistream/1.0.0'
const CONTINUES = 0x80

/** A line of multistream-select, with its length before it and its line feed. */
export function selectLine(line: string): Uint8Array {
  const bytes = utf8(`${line}\n`)
  return new Uint8ArrayList(encode(bytes.length), bytes).subarray()
}

/**
 * Answers the peer's lines of multistream-select on a new stream, until one names a protocol that this node serves. That line goes to libp2p,
 * with all that follows. libp2p reads each line byte by byte in promises: 98 kB of lines hold the event loop for a second.
 */
export function answerLines(stream: Receiving, isServed: (protocol: string) => boolean): void {
  const onData = stream.onData.bind(stream)
  const received = new Uint8ArrayList()
  let lines = 0
  stream.onData = (data) => {
    received.append(data)
    const answers = new Uint8ArrayList()
    let first: Line | undefined
    try {
      for (;;) {
        first = firstLine(received)
        if (first === undefined || isServed(first.line)) break
        if (++lines > SELECT_LINES_MAX) throw new Error('the selection of a protocol has too many lines')
        // `ls` gets this answer too, as from go-libp2p. Peers do not send it.
        answers.append(selectLine(first.line === VERSION ? VERSION : 'na'))
        received.consume(first.end)
      }
      if (answers.byteLength > 0) stream.send(answers)
    } catch (error) {
      stream.onData = onData
      stream.abort(error as Error)
      return
    }
    if (first === undefined) return
    stream.onData = onData
    onData(received.sublist(0, first.end))
    received.consume(first.end)
    checkMessages(stream, first.line)
    stream.onData(received)
  }
}

interface Line {
  readonly line: string
  /** Place of the end of the line in the received bytes. */
  readonly end: number
}

/** Undefined while not all of the line has arrived. @throws Error for bytes that are no line of the specification */
function firstLine(received: Uint8ArrayList): Line | undefined {
  const head = received.subarray(0, Math.min(2, received.byteLength))
  const [low, high] = head
  if (low === undefined || (low >= CONTINUES && high === undefined)) return undefined
  const [prefix, length] = low < CONTINUES ? [1, low] : [2, low - CONTINUES + (high ?? 0) * CONTINUES]
  if (length > SELECT_BYTES_MAX) throw new Error('a line is too long')
  const end = prefix + length
  if (received.byteLength < end) return undefined
  const line = text(received.subarray(prefix, end))
  if (!line.endsWith('\n')) throw new Error('a line has no end')
  return { line: line.trimEnd(), end }
}
