import { TERM_CHARS_MAX } from './limits.ts'

/**
 * A text as the words it is searched by: runs of letters and digits, in lower case and without accents. Texts and what is
 * searched for go through here alike, so that every store finds the same.
 */
export function searchTerms(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words.map((word) => word.slice(0, TERM_CHARS_MAX)))]
}
