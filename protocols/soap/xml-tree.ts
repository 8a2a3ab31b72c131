import { XMLParser } from 'fast-xml-parser'
import { XML_DEPTH_MAX, XML_TAG_CHARS_MAX } from '../../lib/base/limits.ts'
import { NS, type QName } from './names.ts'
import { XmlError } from './xml-error.ts'
import { isXmlText } from './xml-text.ts'

/**
 * A namespace-resolved XML tree: what the rest of this folder sees of XML. Comments and processing instructions are gone,
 * character data of one run is one string, references are replaced.
 */
export interface XmlElement extends QName {
  /** Without namespace declarations. */
  readonly attributes: readonly XmlAttribute[]
  /** Child elements and text, in order. */
  readonly nodes: ReadonlyArray<XmlElement | string>
  readonly scope: Scope
}

export interface XmlAttribute extends QName {
  readonly value: string
}

/** Namespaces by `:prefix`, the default one by `:`; inherits from the parent element's by prototype. */
type Scope = { readonly [prefix: string]: string }

const ATTRIBUTE = '@_'
const TEXT = '#text'
const CDATA = '#cdata'
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/**
 * Parses a document, without a DTD.
 *
 * @throws XmlError for whatever is not well-formed or not namespace-well-formed, has a document type declaration, nests
 *   past `XML_DEPTH_MAX`, has a tag past `XML_TAG_CHARS_MAX`, or has a name that the parser refuses (`constructor`).
 */
export function parseXml(text: string): XmlElement {
  const document = text.startsWith('\ufeff') ? text.slice(1) : text
  scanMarkup(document)
  const roots = parsed(document).filter((node) => !(TEXT in node))
  const root = roots[0]
  if (root === undefined || roots.length > 1) throw new XmlError('has no single root element')
  return elementOf(root, ROOT_SCOPE)
}

/** Not frozen, though never changed: what inherits from it could not set its own. */
const ROOT_SCOPE = Object.assign(Object.create(null) as object, { ':xml': NS.xml, ':': '' }) as Scope

/**
 * What must be known before the parser starts: no document type declaration, whose entities could grow without bound, and
 * no endless tag, on which it is slow. A `<` within a tag is an error anyway, so tags are looked for between two of them.
 */
function scanMarkup(text: string): void {
  if (!isXmlText(text)) throw new XmlError('holds a character that XML does not allow')
  if (!/^\s*</.test(text)) throw new XmlError('is not XML')
  if (text.slice(text.lastIndexOf('>') + 1).trim() !== '') throw new XmlError('has text after its root element')
  for (let at = text.indexOf('<'); at !== -1; ) {
    const skipped = skipSpecial(text, at)
    if (skipped !== undefined) {
      at = text.indexOf('<', skipped)
      continue
    }
    const next = text.indexOf('<', at + 1)
    if ((next === -1 ? text.length : next) - at > XML_TAG_CHARS_MAX && tagIsLong(text, at)) {
      throw new XmlError('has a tag that is too long')
    }
    at = next
  }
}

/** Where a comment, CDATA section or processing instruction at `at` ends; undefined when a tag is there. */
function skipSpecial(text: string, at: number): number | undefined {
  const next = text[at + 1]
  if (next !== '!' && next !== '?') return undefined
  const [open, close] =
    next === '?' ? ['<?', '?>'] : text.startsWith('<!--', at) ? ['<!--', '-->'] : ['<![CDATA[', ']]>']
  if (!text.startsWith(open, at)) throw new XmlError('has a document type declaration (DOCTYPE), which is not allowed')
  const end = text.indexOf(close, at + open.length)
  if (end === -1) throw new XmlError('is not well-formed XML: it ends within a comment, CDATA section or instruction')
  return end + close.length
}

function tagIsLong(text: string, at: number): boolean {
  let quote = ''
  for (let i = at; i <= at + XML_TAG_CHARS_MAX && i < text.length; i++) {
    const char = text[i] ?? ''
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '>') return false
  }
  return true
}

/** XML 1.0, section 4.6: five names are known without a declaration; any other is an error, not text. */
function replaceReferences(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));|&/g, (_, hex, decimal, name) => {
    if (typeof name === 'string') return NAMED[name] ?? ''
    const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number.parseInt(String(decimal), 10)
    const char = code <= 0x10ffff ? String.fromCodePoint(code) : '\0'
    if (!isXmlText(char)) throw new XmlError('has a reference to an entity or character that is not defined')
    return char
  })
}

/** One node of fast-xml-parser's ordered form: its name with its children, or text, beside `:@` with the attributes. */
type RawNode = { readonly [name: string]: unknown }

function parsed(text: string): RawNode[] {
  const parser = new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: ATTRIBUTE,
    textNodeName: TEXT,
    cdataPropName: CDATA,
    parseTagValue: false,
    trimValues: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    jPath: false,
    maxNestedTags: XML_DEPTH_MAX,
    // Names such as `toString` are harmless in the ordered form, and must not be changed.
    onDangerousProperty: (name: string) => name,
    entityDecoder: {
      setExternalEntities: () => {},
      addInputEntities: () => {
        throw new XmlError('has a document type declaration (DOCTYPE), which is not allowed')
      },
      reset: () => {},
      setXmlVersion: () => {},
      decode: replaceReferences
    }
  })
  try {
    // With its validator first: the parser itself takes mismatched tags, two roots and plain text.
    // oxlint-disable-next-line typescript/no-deprecated -- it moves to a package of its own, with the same code
    return parser.parse(text, true) as RawNode[]
  } catch (cause) {
    if (cause instanceof XmlError) throw cause
    const line = cause instanceof Error ? /:(\d+):\d+$/.exec(cause.message)?.[1] : undefined
    const where = line === undefined ? 'it nests too deeply or uses a name that is not allowed' : `see line ${line}`
    throw new XmlError(`is not well-formed XML: ${where}`, { cause })
  }
}

function elementOf(node: RawNode, parent: Scope): XmlElement {
  let raw = ''
  for (const key in node) if (key !== ':@') raw = key
  const attributes = node[':@'] as Readonly<Record<string, string>> | undefined
  const scope = attributes === undefined ? parent : scopeOf(attributes, parent)
  const own = expand(raw, scope, scope[':'] ?? '')
  return {
    namespace: own.namespace,
    name: own.name,
    attributes: attributes === undefined ? NO_ATTRIBUTES : attributesOf(attributes, scope),
    nodes: nodesOf(node[raw] as RawNode[], scope),
    scope
  }
}

const NO_ATTRIBUTES: readonly XmlAttribute[] = []

function nodesOf(children: RawNode[], scope: Scope): Array<XmlElement | string> {
  const nodes: Array<XmlElement | string> = []
  for (const child of children) {
    const text = TEXT in child ? child[TEXT] : CDATA in child ? (child[CDATA] as RawNode[])[0]?.[TEXT] : undefined
    if (typeof text !== 'string') {
      nodes.push(elementOf(child, scope))
      continue
    }
    const last = nodes.length - 1
    const before = nodes[last]
    if (typeof before === 'string') nodes[last] = before + text
    else nodes.push(text)
  }
  return nodes
}

function scopeOf(attributes: Readonly<Record<string, string>>, parent: Scope): Scope {
  let scope: Record<string, string> | undefined
  for (const key in attributes) {
    if (!key.startsWith('@_xmlns')) continue
    const rest = key.slice('@_xmlns'.length)
    if (rest !== '' && rest[0] !== ':') continue
    const uri = attributes[key] ?? ''
    if (rest !== '' && uri === '') throw new XmlError('has a prefix that is bound to nothing')
    scope ??= Object.create(parent) as Record<string, string>
    scope[rest === '' ? ':' : rest] = uri
  }
  return scope ?? parent
}

function attributesOf(attributes: Readonly<Record<string, string>>, scope: Scope): XmlAttribute[] {
  const list: XmlAttribute[] = []
  for (const key in attributes) {
    const raw = key.slice(ATTRIBUTE.length)
    if (raw === 'xmlns' || raw.startsWith('xmlns:')) continue
    list.push({ ...expand(raw, scope, ''), value: attributes[key] ?? '' })
  }
  return list
}

/** A name as written, with its namespace; without a prefix it is in `unprefixed`. */
function expand(raw: string, scope: Scope, unprefixed: string): QName {
  const colon = raw.indexOf(':')
  if (colon === -1) return { namespace: unprefixed, name: raw }
  const namespace = scope[`:${raw.slice(0, colon)}`]
  const name = raw.slice(colon + 1)
  if (colon === 0 || namespace === undefined || name === '' || name.includes(':')) {
    throw new XmlError('has a name whose prefix is not declared')
  }
  return { namespace, name }
}

/** A QName in content or in an attribute value, where the default namespace counts (XML Schema part 2, 3.2.18). */
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

/** Text directly within the element. */
export function textOf(element: XmlElement): string {
  if (element.nodes.length === 1 && typeof element.nodes[0] === 'string') return element.nodes[0]
  return element.nodes.filter((node) => typeof node === 'string').join('')
}

/** Text directly within the element on one line, without layout; undefined when there is none. */
export function lineOf(element: XmlElement | undefined): string | undefined {
  const line = element === undefined ? '' : textOf(element).replaceAll(/\s+/g, ' ').trim()
  return line === '' ? undefined : line
}
