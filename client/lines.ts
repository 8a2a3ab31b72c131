import { SoukError } from './souk-error.ts'

/** Characters of one item of a stream. Without a bound, an API that never ends its item would fill the memory of the program. */
const ITEM_CHARS_MAX = 2 ** 24

/** @throws SoukError `response_too_large` */
export function checkItem(chars: number): void {
  if (chars <= ITEM_CHARS_MAX) return
  const detail = `An item of the stream has more than ${ITEM_CHARS_MAX} characters.`
  throw new SoukError('response_too_large', detail, { source: 'upstream', charged: null })
}

/** Splits text that arrives in chunks at its line ends: CR, LF or both. */
export class Lines {
  /** Parts of the unfinished line, joined once it ends. */
  #parts: string[] = []
  #chars = 0
  #endsWithCr = false

  /**
   * The lines that this chunk completes.
   * @throws SoukError `response_too_large`
   */
  push(chunk: string): string[] {
    if (chunk === '') return []
    // The second half of a line end whose first half ended the last chunk.
    const text = this.#endsWithCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk
    this.#endsWithCr = chunk.endsWith('\r')
    const [first = '', ...others] = text.split(/\r\n|\n|\r/)
    this.#hold(first)
    if (others.length === 0) return []
    const rest = others.pop() ?? ''
    const lines = [this.#parts.join(''), ...others]
    this.#parts = []
    this.#chars = 0
    this.#hold(rest)
    return lines
  }

  /** The text after the last line end. */
  get rest(): string {
    return this.#parts.join('')
  }

  #hold(text: string): void {
    this.#chars += text.length
    checkItem(this.#chars)
    if (text !== '') this.#parts.push(text)
  }
}
