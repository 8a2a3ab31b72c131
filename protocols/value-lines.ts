import { text } from '../lib/base/bytes.ts'

const LINE_FEED = 0x0a

/** Tells a sequence of JSON values, one a line, from one JSON document while it arrives. Blank lines may come before and between. */
export class ValueLines {
  /** Values known so far: 0 while none is whole, 1 after a line with a value, 2 if more follows it. */
  found: 0 | 1 | 2 = 0
  #line: Uint8Array[] = []
  #isDocument = false

  push(chunk: Uint8Array): void {
    let rest = chunk
    while (this.found === 0 && !this.#isDocument) {
      const end = rest.indexOf(LINE_FEED) + 1
      this.#line.push(end === 0 ? rest : rest.subarray(0, end))
      if (end === 0) return
      rest = rest.subarray(end)
      this.#read(text(Buffer.concat(this.#line)).trim())
      this.#line = []
    }
    if (this.found === 1 && text(rest).trim() !== '') this.found = 2
  }

  /** @param line - one that is complete */
  #read(line: string): void {
    if (line === '') return
    try {
      JSON.parse(line)
      this.found = 1
    } catch {
      this.#isDocument = true
    }
  }
}
