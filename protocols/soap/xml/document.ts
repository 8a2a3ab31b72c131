import { XMLParser } from 'fast-xml-parser'
import { XML_DEPTH_MAX } from '../../../lib/base/limits/soap.ts'
import { NS } from './names.ts'
import { XmlError, notWellFormed } from './error.ts'
import { Namespaces, ROOT_SCOPE } from './namespaces.ts'
import { screenedXml } from './screen.ts'
import { attributeText, lineAt, replaceReferences } from './text.ts'
import type { Scope, XmlElement } from './tree.ts'

export interface DocumentOptions {
  /** Is told of a prefix that is not declared; the name gets a namespace of its own. */
  readonly undeclared?: (prefix: string) => void
  /** Namespaces in scope around the text, where it is a piece of a document. Default: none. */
  readonly scope?: Scope
  /** Receives the position of each child of an `xs:schema` in the text, as `normalXml` gives it. */
  readonly spans?: Map<XmlElement, Span>
  /** The text was read before, and stored: it is not validated again. */
  readonly validated?: boolean
}

/** From its `<` up to behind its last `>`. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Stands before each element name in the parser's output: the parser refuses the names of JavaScript's own properties. */
const ELEMENT = '<'
const ATTRIBUTE = '@'
const ATTRIBUTES = ':@'
const TEXT = '#text'
const CDATA = '#cdata'
const POSITION = XMLParser.getMetaDataSymbol() as unknown as symbol

/** One key for its content, `ATTRIBUTES` where an element has some, and `POSITION` for an element. */
type ParsedNode = Readonly<Record<string, unknown>>

const PARSER = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: ATTRIBUTE,
  textNodeName: TEXT,
  cdataPropName: CDATA,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // The values as written. The library knows entities of HTML and lets unknown ones pass, so references are replaced here.
  trimValues: false,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  maxNestedTags: XML_DEPTH_MAX,
  // Text paths would cost time by depth.
  jPath: false,
  captureMetaData: true,
  // Called twice for an empty element.
  transformTagName: (name) => (name.startsWith(ELEMENT) ? name : ELEMENT + name)
})

/**
 * Reads a WSDL or a schema by fast-xml-parser. Messages of calls are read by `parseXml`, which takes less time.
 *
 * @throws XmlError for a document that is not well-formed or not namespace-well-formed, has a document type declaration,
 *   nests past `XML_DEPTH_MAX`, or has a tag past `XML_TAG_CHARS_MAX`.
 */
export function readXmlDocument(text: string, options: DocumentOptions = {}): XmlElement {
  const screened = screenedXml(text, options.validated)
  return new Builder(screened, options).root(PARSER.parse(screened) as readonly ParsedNode[])
}

const NOTHING: ParsedNode = {}

/** Makes the tree with resolved namespaces from the parser's output. */
class Builder {
  readonly #scope: Scope
  readonly #spans: DocumentOptions['spans']
  readonly #namespaces: Namespaces
  /** Where the current tag starts. */
  #at = 0

  constructor(text: string, { undeclared, scope = ROOT_SCOPE, spans }: DocumentOptions) {
    this.#scope = scope
    this.#spans = spans
    this.#namespaces = new Namespaces({ broken: (what) => notWellFormed(what, lineAt(text, this.#at)), undeclared })
  }

  root(nodes: readonly ParsedNode[]): XmlElement {
    // White space around the root element may be text here.
    const root = nodes.find((node) => textIn(node) === undefined)
    if (root === undefined) throw new XmlError('has no root element')
    return this.#element(root, this.#scope, false)
  }

  /** `defined` says that an element around is a definition of a schema. */
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
    // A schema within a definition, such as in its documentation, defines nothing.
    const defines = !defined && namespace === NS.xsd && name.local === 'schema'
    const children = node[key] as ParsedNode[]
    for (let index = 0; index < children.length; index++) {
      const child = children[index] ?? NOTHING
      // Frees the parser's node: two whole trees at once would take twice the memory.
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

/** The key of a node's content, which is its first. */
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

/** Text, CDATA sections and text around comments are one run. */
function append(nodes: Array<XmlElement | string>, text: string): void {
  const last = nodes.length - 1
  const before = nodes[last]
  if (typeof before === 'string') nodes[last] = before + text
  else nodes.push(text)
}

/** Names and values by turns. @throws XmlError */
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
