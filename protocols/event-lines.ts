/**
 * Splits the text of an event stream into lines (WHATWG HTML, section 9.2.5). A line may arrive in many chunks, so its parts are joined
 * only when a line end arrives.
 */
export class EventLines {
  #parts: string[] = []
  /** Characters of the unfinished line. */
  held = 0

  /** The lines that this chunk completes. */
  push(text: string): string[] {
    if (text === '') return []
    const mayEnd = this.#parts.at(-1)?.endsWith('\r') === true || /[\r\n]/.test(text)
    this.#parts.push(text)
    this.held += text.length
    if (!mayEnd) return []
    // A carriage return at the end may be the first half of a line end.
    const lines = this.#parts.join('').split(/\r\n|\n|\r(?!$)/)
    const rest = lines.pop() ?? ''
    this.#parts = [rest]
    this.held = rest.length
    return lines
  }
}
