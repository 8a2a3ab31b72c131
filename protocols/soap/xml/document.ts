import { XMLParser } from 'fast-xml-parser'
import { XML_DEPTH_MAX } from '../../../lib/base/limits/soap.ts'
import { NS } from './names.ts'
import { XmlError, notWellFormed } from './error.ts'
import { Namespaces, ROOT_SCOPE } from './namespaces.ts'
import { screenedXml } from './screen.ts'
import { attributeText, lineAt, replaceReferences } from './text.ts'
import type { Scope, XmlElement } from './tree.ts'

export interface DocumentOptions {
  /** Called for each undeclared prefix. Names with such a prefix get a separate namespace. */
  readonly undeclared?: (prefix: string) => void
  /** The namespaces in scope, if the text is a part of a document. Default: none. */
  readonly scope?: Scope
  /** Receives the position of each child of an `xs:schema` in the text that `normalXml` returns. */
  readonly spans?: Map<XmlElement, Span>
  /** True if the text was validated before it was stored. */
  readonly validated?: boolean
}

/** The range from an element's `<` to after its last `>`. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** A prefix for each element name in the parser's output, because the parser rejects names of JavaScript's own properties. */
const ELEMENT = '<'
const ATTRIBUTE = '@'
const ATTRIBUTES = ':@'
const TEXT = '#text'
const CDATA = '#cdata'
const POSITION = XMLParser.getMetaDataSymbol() as unknown as symbol

/** A node has one key for its content, `ATTRIBUTES` if it has attributes, and `POSITION` if it is an element. */
type ParsedNode = Readonly<Record<string, unknown>>

const PARSER = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: ATTRIBUTE,
  textNodeName: TEXT,
  cdataPropName: CDATA,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Values are kept as written, because the library also replaces HTML entities and accepts unknown ones. `replaceReferences`
  // replaces them.
  trimValues: false,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  maxNestedTags: XML_DEPTH_MAX,
  // Building a text path would take time in proportion to the depth.
  jPath: false,
  captureMetaData: true,
  // The library calls this twice for an empty element.
  transformTagName: (name) => (name.startsWith(ELEMENT) ? name : ELEMENT + name)
})

/**
 * Reads a WSDL or a schema with fast-xml-parser. Messages of calls are read by `parseXml`, which is faster.
 *
 * @throws XmlError for a document that is not well-formed or not namespace-well-formed, has a document type declaration other than
 * that of a schema, exceeds the depth `XML_DEPTH_MAX`, or has a tag longer than `XML_TAG_CHARS_MAX`
 */
export function readXmlDocument(text: string, options: DocumentOptions = {}): XmlElement {
  const screened = screenedXml(text, options.validated)
  return new Builder(screened, options).root(PARSER.parse(screened) as readonly ParsedNode[])
}

const NOTHING: ParsedNode = {}

/** Builds the tree with resolved namespaces from the parser's output. */
class Builder {
  readonly #scope: Scope
  readonly #spans: DocumentOptions['spans']
  readonly #namespaces: Namespaces
  /** The start of the current tag. */
  #at = 0

  constructor(text: string, { undeclared, scope = ROOT_SCOPE, spans }: DocumentOptions) {
    this.#scope = scope
    this.#spans = spans
    this.#namespaces = new Namespaces({ broken: (what) => notWellFormed(what, lineAt(text, this.#at)), undeclared })
  }

  root(nodes: readonly ParsedNode[]): XmlElement {
    // The parser may return white space around the root element as text.
    const root = nodes.find((node) => textIn(node) === undefined)
    if (root === undefined) throw new XmlError('has no root element')
    return this.#element(root, this.#scope, false)
  }

  /** @param defined - true within a definition of a schema */
  #element(node: ParsedNode, around: Scope, defined: boolean): XmlElement {
    this.#at = spanOf(node).from
    const namespaces = this.#namespaces
    const key = contentKey(node)
    const pairs = pairsOf(node)
    const scope = namespaces.scopeOf(pairs, around)
    const name = namespaces.name(key.slice(ELEMENT.length))
    const namespace = namespaces.namespace(name, scope)
    const attributes = namespaces.attributesOf(pairs, scope)
    const nodes: Array<XmlElement | string> = []
    const element = { namespace, name: name.local, attributes, nodes, scope }
    // A schema within a definition, such as in its documentation, contains no definitions.
    const defines = !defined && namespace === NS.xsd && name.local === 'schema'
    const children = node[key] as ParsedNode[]
    for (let index = 0; index < children.length; index++) {
      const child = children[index] ?? NOTHING
      // Releases the parser's node, because two whole trees at once would need twice the memory.
      children[index] = NOTHING
      const text = textIn(child)
      if (text !== undefined) {
        append(nodes, text)
        continue
      }
      const made = this.#element(child, scope, defined || defines)
      nodes.push(made)
      if (defines) this.#spans?.set(made, spanOf(child))
    }
    return element
  }
}

/** The content key of a node, which is always its first key. */
function contentKey(node: ParsedNode): string {
  for (const key in node) return key
  return ''
}

/** The text of a node with its references replaced; undefined for an element. @throws XmlError */
function textIn(node: ParsedNode): string | undefined {
  const text = node[TEXT]
  if (typeof text === 'string') return text.includes('&') ? replaceReferences(text) : text
  const [section] = (node[CDATA] ?? []) as readonly ParsedNode[]
  return section?.[TEXT] as string | undefined
}

/** Joins text, CDATA sections and the text after comments into one string. */
function append(nodes: Array<XmlElement | string>, text: string): void {
  const last = nodes.length - 1
  const before = nodes[last]
  if (typeof before === 'string') nodes[last] = before + text
  else nodes.push(text)
}

/** The attributes, as alternating names and values. @throws XmlError */
function pairsOf(node: ParsedNode): readonly string[] {
  const pairs: string[] = []
  const attributes = (node[ATTRIBUTES] ?? {}) as Readonly<Record<string, string>>
  for (const key in attributes) pairs.push(key.slice(ATTRIBUTE.length), attributeText(attributes[key] ?? ''))
  return pairs
}

function spanOf(node: ParsedNode): Span {
  const { startIndex, endIndex } = (node as Readonly<Record<symbol, { startIndex: number; endIndex: number }>>)[
    POSITION
  ] ?? { startIndex: 0, endIndex: 0 }
  return { from: startIndex, to: endIndex }
}
