import type { QName } from './names.ts'

/**
 * A namespace-resolved XML tree, the only view of XML outside the parser. Comments and processing instructions are removed,
 * adjacent text is one string, and references are replaced. `xml-parse.ts` makes it.
 */
export interface XmlElement extends QName {
  /** The attributes without namespace declarations. */
  readonly attributes: readonly XmlAttribute[]
  /** Child elements and text, in order. */
  readonly nodes: ReadonlyArray<XmlElement | string>
  readonly scope: Scope
}

export interface XmlAttribute extends QName {
  readonly value: string
}

/** Namespaces by `:prefix`, the default one by `:`. Inherits from the parent element's scope by prototype. */
export type Scope = { readonly [prefix: string]: string }

/** Resolves a QName in content or in an attribute value, where the default namespace applies (XML Schema part 2, 3.2.18). */
export function qnameIn(element: XmlElement, value: string): QName | undefined {
  const text = value.trim()
  const colon = text.indexOf(':')
  if (colon === -1) return { namespace: element.scope[':'] ?? '', name: text }
  const namespace = element.scope[`:${text.slice(0, colon)}`]
  return namespace === undefined ? undefined : { namespace, name: text.slice(colon + 1) }
}

export function attribute(element: XmlElement, name: string, namespace = ''): string | undefined {
  for (const one of element.attributes) if (one.name === name && one.namespace === namespace) return one.value
  return undefined
}

export function elements(element: XmlElement, namespace?: string, name?: string): XmlElement[] {
  const found: XmlElement[] = []
  for (const node of element.nodes) {
    if (typeof node === 'string') continue
    if ((namespace === undefined || node.namespace === namespace) && (name === undefined || node.name === name)) {
      found.push(node)
    }
  }
  return found
}

export function firstElement(element: XmlElement, namespace?: string, name?: string): XmlElement | undefined {
  for (const node of element.nodes) {
    if (typeof node === 'string') continue
    if ((namespace === undefined || node.namespace === namespace) && (name === undefined || node.name === name)) {
      return node
    }
  }
  return undefined
}

/** The text directly within the element. */
export function textOf(element: XmlElement): string {
  if (element.nodes.length === 1 && typeof element.nodes[0] === 'string') return element.nodes[0]
  return element.nodes.filter((node) => typeof node === 'string').join('')
}

/** The text directly within the element as one line; undefined if there is none. */
export function lineOf(element: XmlElement | undefined): string | undefined {
  const line = element === undefined ? '' : textOf(element).replaceAll(/\s+/g, ' ').trim()
  return line === '' ? undefined : line
}
