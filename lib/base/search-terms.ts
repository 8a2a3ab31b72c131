import { TERM_CHARS_MAX } from './limits/directory.ts'

/**
 * Splits a text into search words: runs of letters and digits, in lower case and without accents. Listings and search
 * queries both use it, so that every store finds the same.
 */
export function searchTerms(text: string): string[] {
  const plain = text
    // The standard's bound (UAX #15 §13). Normalization sorts each run of marks, which takes quadratic time.
    .replaceAll(/(\p{M}{30})\p{M}+/gu, '$1')
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => word.slice(0, TERM_CHARS_MAX)))]
}
