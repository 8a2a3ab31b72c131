import { SoukError } from '../../../lib/base/errors.ts'

/**
 * Counts the characters of one part of a request before they are written. A short call can ask for a long request, because each
 * item of a list repeats the list's name.
 */
export class WrittenSize {
  readonly #part: string
  readonly #charsMax: number
  #chars = 0

  /** @param part - what errors call it, such as `body` */
  constructor(part: string, charsMax: number) {
    this.#part = part
    this.#charsMax = charsMax
  }

  /** @throws SoukError `request_too_large` */
  add(chars: number): void {
    this.#chars += chars
    if (this.#chars <= this.#charsMax) return
    throw new SoukError(
      'request_too_large',
      `This call would send the API a ${this.#part} of more than ${this.#charsMax} bytes, which is the limit.`
    )
  }
}
