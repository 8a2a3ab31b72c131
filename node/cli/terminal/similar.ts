/** Longer words are no typing mistakes, and comparing them takes time. */
const WORD_CHARS_MAX = 100
/** A shorter part of a name would fit too many names. */
const PART_CHARS_MIN = 3
const SHOWN_MAX = 3

/** The known words that somebody who typed `typed` probably meant, best first, at most three. */
export function similarTo(typed: string, known: Iterable<string>): string[] {
  const word = typed.toLowerCase()
  if (word === '' || word.length > WORD_CHARS_MAX) return []
  const parts = partsOf(word)
  const mistakesMax = Math.min(3, Math.max(1, Math.floor(word.length / 3)))
  const graded = [...new Set(known)].flatMap((name) => {
    const mistakes = distance(word, name.toLowerCase().slice(0, WORD_CHARS_MAX))
    if (mistakes <= mistakesMax && mistakes < name.length) return [{ name, mistakes }]
    const isPart = word.length >= PART_CHARS_MIN && parts.every((part) => isIn(part, name.toLowerCase()))
    return isPart ? [{ name, mistakes: mistakesMax + 1 }] : []
  })
  graded.sort((one, other) => one.mistakes - other.mistakes || one.name.localeCompare(other.name))
  return graded.slice(0, SHOWN_MAX).map(({ name }) => name)
}

const partsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u)

/** Whether a name has this part, or one that differs from it by one mistake. */
function isIn(part: string, name: string): boolean {
  if (name.includes(part)) return true
  const isLong = part.length > PART_CHARS_MIN
  return isLong && partsOf(name.slice(0, WORD_CHARS_MAX)).some((own) => distance(part, own) === 1)
}

/** `Did you mean a, b or c?` */
export function didYouMeanText(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return `Did you mean ${names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`
}

/** Optimal string alignment: inserted, missing, wrong and swapped neighbouring characters count one each. */
function distance(one: string, other: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const wrong = one[i - 1] === other[j - 1] ? 0 : 1
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next[j] = Math.min(
        (last[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + wrong,
        isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity
      )
    }
    ;[before, last] = [last, next]
  }
  return last[other.length] ?? 0
}
