import { isSoukError, SoukError } from '../../../lib/base/errors.ts'
import { SOAP_PROBLEMS_CHARS_MAX, SOAP_PROBLEMS_MAX } from '../../../lib/base/limits/soap.ts'

/** The problems of one call's values, which its error reports all at once. */
export class Problems {
  readonly #all: SoukError[] = []
  #chars = 0
  /** Passes through the places that collect. */
  #reported: SoukError | undefined

  /** Keeps the problem of one value. Other errors are thrown, and all problems if there are too many. */
  add(error: unknown): void {
    if (!isSoukError(error) || error.code !== 'invalid_request' || error === this.#reported) throw error
    // A rule of the schema and of a mapping may be the same.
    if (this.#all.some(({ message }) => message === error.message)) return
    this.#all.push(error)
    this.#chars += 2 * error.message.length
    if (this.#all.length >= SOAP_PROBLEMS_MAX || this.#chars >= SOAP_PROBLEMS_CHARS_MAX) this.report()
  }

  /** @throws SoukError `invalid_request` with the path of the first problem, and all as `problems`, if there are any */
  report(): void {
    const [first] = this.#all
    if (first === undefined) return
    if (this.#all.length === 1) throw first
    const problems = this.#all.map(({ message, members }) => ({ path: members?.path, problem: message }))
    this.#reported = new SoukError('invalid_request', this.#all.map(({ message }) => message).join(' '), {
      members: { path: first.members?.path, problems }
    })
    throw this.#reported
  }
}
