import { NS } from '../../protocols/soap/xml/names.ts'
import { type XmlElement, elements, textOf } from '../../protocols/soap/xml/tree.ts'

/**
 * The first difference between two lists of elements: names, namespaces, attributes, text or order. Prefixes, `xsi:type` and
 * layout do not count. Undefined if they are equal.
 */
export function difference(
  actual: readonly XmlElement[],
  expected: readonly XmlElement[],
  path = ''
): string | undefined {
  for (let i = 0; i < Math.max(actual.length, expected.length); i++) {
    const [a, b] = [actual[i], expected[i]]
    if (a === undefined || b === undefined || nameOf(a) !== nameOf(b)) {
      return `at ${path || '/'}: ${a === undefined ? 'nothing' : nameOf(a)} instead of ${b === undefined ? 'nothing' : nameOf(b)}`
    }
    const here = `${path}/${b.name}`
    const attributes = [attributesOf(a), attributesOf(b)]
    if (attributes[0] !== attributes[1]) return `at ${here}: attributes ${attributes[0]} instead of ${attributes[1]}`
    const children = elements(b)
    if (children.length === 0 && elements(a).length === 0) {
      if (textOf(a).trim() !== textOf(b).trim()) return `at ${here}: "${textOf(a)}" instead of "${textOf(b)}"`
      continue
    }
    const within = difference(elements(a), children, here)
    if (within !== undefined) return within
  }
  return undefined
}

const nameOf = ({ namespace, name }: XmlElement) => `{${namespace}}${name}`

function attributesOf({ attributes }: XmlElement): string {
  return attributes
    .filter(({ namespace, name }) => namespace !== NS.xsi || name !== 'type')
    .map(({ namespace, name, value }) => `{${namespace}}${name}="${value}"`)
    .toSorted()
    .join(' ')
}
