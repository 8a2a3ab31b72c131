import type { Builtin } from './builtin.ts'
import type { Facets } from './model.ts'

const LETTER = '[A-Za-z0-9+/]'
const GROUP = `(?:${LETTER}{4})`
/** One or two bytes at the end. */
const ENDS = [`${LETTER}{2}==`, `${LETTER}{3}=`] as const
const BASE64 = `^${GROUP}*(?:${ENDS.join('|')})?$`

/** Base64 or hexadecimal text whose bytes fit the length facets, without white space. */
export function binarySchema(
  { name }: Pick<Builtin, 'name'>,
  { length, minLength, maxLength }: Facets = {}
): {
  readonly [keyword: string]: unknown
} {
  const [min = 0, max] = [length ?? minLength, length ?? maxLength]
  if (name === 'hexBinary') return { pattern: `^(?:[\\da-fA-F]{2}){${min},${max ?? ''}}$` }
  if (min === 0 && max === undefined) return { pattern: BASE64 }
  const bounds = [...(min === 0 ? [] : [atLeast(min)]), ...(max === undefined ? [] : [atMost(max)])]
  return { pattern: BASE64, allOf: bounds.map((pattern) => ({ pattern })) }
}

function atLeast(bytes: number): string {
  const [groups, left] = [Math.floor(bytes / 3), bytes % 3]
  if (left === 0) return `^${GROUP}{${groups}}`
  return `^${GROUP}{${groups}}(?:${[GROUP, ...ENDS.slice(left - 1)].join('|')})`
}

function atMost(bytes: number): string {
  const [groups, left] = [Math.floor(bytes / 3), bytes % 3]
  const shorter = groups === 0 ? [] : [`${GROUP}{0,${groups - 1}}(?:${ENDS.join('|')})?`]
  const ends = ENDS.slice(0, left)
  return `^(?:${[...shorter, `${GROUP}{${groups}}${ends.length === 0 ? '' : `(?:${ends.join('|')})?`}`].join('|')})$`
}
