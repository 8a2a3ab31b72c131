import { OPERATION_TERMS_MAX, OPERATIONS_SHOWN_PER_LISTING_MAX } from '../base/limits/directory.ts'
import { searchTerms } from '../base/search-terms.ts'
import type { OperationSummary } from '../interface/operation-summary.ts'

/** Rows of one listing's operations are `number * OPERATION_ROWS` and the next ones, so that one range has them all. */
export const OPERATION_ROWS = 4_096

/** The words by which one operation is found. `getQuote` is found by each of its words, and as written. */
export function operationTerms({ name, summary = '' }: OperationSummary): string[] {
  return searchTerms([name, splitWords(name), summary].join(' ')).slice(0, OPERATION_TERMS_MAX)
}

/** Words of an API's name, by which its operations are found too. */
export const nameTerms = (id: string): string[] => searchTerms(id.slice(0, id.indexOf('@')))

/** `getQuote` as `get Quote`. */
export const splitWords = (name: string): string => name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')

/** Terms that operations are searched by. Most operations have words with any one letter. */
export const soughtTerms = (terms: readonly string[]): string[] => terms.filter((term) => !/^[a-z0-9]$/.test(term))

/** The best of some operations that match: whole words before prefixes, then few other words, then the given order. */
export function bestOperations(entries: Iterable<string>, terms: readonly string[]): OperationSummary[] {
  const rank = (operation: OperationSummary) => {
    const words = operationTerms(operation)
    const prefixes = terms.filter((term) => !words.includes(term)).length
    return prefixes * OPERATION_TERMS_MAX + words.length
  }
  return Array.from(entries, (entry) => JSON.parse(entry) as OperationSummary)
    .map((operation) => ({ operation, rank: rank(operation) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, OPERATIONS_SHOWN_PER_LISTING_MAX)
    .map(({ operation }) => operation)
}
