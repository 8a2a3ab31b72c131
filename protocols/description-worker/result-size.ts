import { SoukError } from '../../lib/base/errors.ts'

/** Characters of any value besides its text. */
const VALUE_CHARS = 8

/**
 * Counts the characters of a result before it is written for another process. An object is written once, but a text each time that
 * something refers to it, so a small document can have a result without bounds.
 * @throws SoukError `description_too_complex`
 */
export function checkResultSize(result: unknown, charsMax: number): void {
  let left = charsMax
  const seen = new Set<object>()
  const waiting = [result]
  while (waiting.length > 0) {
    const value = waiting.pop()
    left -= VALUE_CHARS + (typeof value === 'string' ? value.length : 0)
    if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value)
      for (const [name, member] of Object.entries(value)) {
        left -= name.length
        waiting.push(member)
      }
    }
    if (left >= 0) continue
    const detail = `The result of reading the description has more than ${charsMax} characters, which is the limit.`
    throw new SoukError('description_too_complex', detail)
  }
}
