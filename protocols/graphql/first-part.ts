import { type ResponseOutline, outlineOf } from './graphql-response.ts'

const LINE_END = '\r\n'
const NOTHING: ResponseOutline = { hasData: false, hasErrors: false }

/**
 * Reads the response in the first part of a multipart body (RFC 2046, section 5.1.1), in time linear to its length. Some servers close
 * a part only when they begin the next, so the part also ends with its JSON object.
 */
export class FirstPart {
  readonly #open: Mark
  readonly #head = new Mark(LINE_END + LINE_END)
  readonly #close: Mark
  readonly #object = new ObjectEnd()
  #at: 'open' | 'head' | 'body' = 'open'
  #body: string[] = []

  constructor(boundary: string) {
    this.#open = new Mark(`--${boundary}${LINE_END}`)
    this.#close = new Mark(`${LINE_END}--${boundary}`)
  }

  /** @returns the response, once it is complete; without data if the part is not JSON */
  push(chunk: string): ResponseOutline | undefined {
    let text: string | undefined = chunk
    if (this.#at === 'open') {
      text = this.#open.after(text)
      if (text === undefined) return undefined
      this.#at = 'head'
      // A part without headers begins with the empty line.
      text = LINE_END + text
    }
    if (this.#at === 'head') {
      text = this.#head.after(text)
      if (text === undefined) return undefined
      this.#at = 'body'
    }
    this.#body.push(text)
    const isClosed = this.#close.after(text) !== undefined
    if (!isClosed && !this.#object.isIn(text)) return undefined
    const body = this.#body.join('')
    if (isClosed) return outlineOf(body.slice(0, body.indexOf(this.#close.text))) ?? NOTHING
    this.#body = [body]
    return outlineOf(body.trimEnd())
  }
}

/** Looks for a text that may be divided among chunks. */
class Mark {
  readonly text: string
  #held = ''

  constructor(text: string) {
    this.text = text
  }

  /** The chunk after the text; undefined if the text was not found yet. */
  after(chunk: string): string | undefined {
    const all = this.#held + chunk
    const at = all.indexOf(this.text)
    if (at !== -1) return all.slice(at + this.text.length)
    this.#held = all.slice(Math.max(0, all.length - this.text.length + 1))
    return undefined
  }
}

/** Finds the end of a JSON object that may be divided among chunks. */
class ObjectEnd {
  #isOver = false
  #depth = 0
  #isString = false
  #isEscaped = false

  /** True if the first object ends in this chunk, thus at most once. */
  isIn(chunk: string): boolean {
    if (this.#isOver) return false
    for (const char of chunk) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isString) {
        if (char === '"') this.#isString = false
        else if (char === '\\') this.#isEscaped = true
      } else if (char === '"') this.#isString = true
      else if (char === '{') this.#depth++
      else if (char === '}' && --this.#depth === 0) this.#isOver = true
      if (this.#isOver) return true
    }
    return false
  }
}
