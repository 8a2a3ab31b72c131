/**
 * Whether a name matches a pattern, in which `*` stands for any characters. Without case. Takes at most the product of the lengths in
 * steps, whatever the pattern.
 */
export function matchesPattern(name: string, pattern: string): boolean {
  const [text, glob] = [name.toLowerCase(), pattern.toLowerCase()]
  let at = 0
  let star = -1
  let from = 0
  let next = 0
  while (at < text.length) {
    if (glob[next] === '*') {
      star = next++
      from = at
    } else if (glob[next] === text[at]) {
      next++
      at++
    } else if (star >= 0) {
      next = star + 1
      at = ++from
    } else return false
  }
  return /^\**$/.test(glob.slice(next))
}
