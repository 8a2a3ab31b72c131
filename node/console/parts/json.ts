import { parseExactly, rawNumber } from '../../../lib/base/exact-json.ts'

/** `isRawJSON` of ES2026, which TypeScript's es2025 library lacks. Older browsers lack it too, and round numbers. */
const { isRawJSON } = JSON as typeof JSON & { readonly isRawJSON?: (value: unknown) => boolean }

/** True for a number that `JSON.stringify` writes with all its digits. */
export function isRawNumber(value: unknown): boolean {
  return isRawJSON?.(value) === true
}

/**
 * Like `JSON.parse`, but `JSON.stringify` writes the numbers of the value with all their digits: a rounded id names something else.
 * @throws SyntaxError
 */
export function readJson(text: string): unknown {
  return parseExactly(text, (source, nearest) => (isRawJSON === undefined ? nearest : rawNumber(source)))
}

/** Indents JSON. Returns other texts unchanged. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(readJson(text), null, 2)
  } catch {
    return text
  }
}
