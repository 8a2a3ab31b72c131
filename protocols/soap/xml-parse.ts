import { XML_DEPTH_MAX, XML_TAG_CHARS_MAX } from '../../lib/base/limits.ts'
import { NS, currentNamespace, isNcName } from './names.ts'
import { XmlError } from './xml-error.ts'
import { isXmlText, replaceReferences } from './xml-text.ts'
import type { Scope, XmlAttribute, XmlElement } from './xml-tree.ts'

/** A name as written, taken apart. */
interface Name {
  /** The key of its prefix in a scope: `:` and the prefix. */
  readonly key: string
  readonly local: string
  /** Where it was last looked up, and what was found: neighbours share a scope. */
  scope: Scope | undefined
  namespace: string
}

class Element implements XmlElement {
  namespace: string
  name: string
  attributes: readonly XmlAttribute[]
  nodes: Array<XmlElement | string> = []
  scope: Scope
  /** As in the start tag, which the end tag must repeat. */
  readonly raw: string

  constructor(raw: string, name: Name, namespace: string, attributes: readonly XmlAttribute[], scope: Scope) {
    this.raw = raw
    this.namespace = namespace
    this.name = name.local
    this.attributes = attributes
    this.scope = scope
  }
}

/** Not frozen, though never changed: what inherits from it could not set its own. */
const ROOT_SCOPE = Object.assign(Object.create(null) as object, { ':xml': NS.xml, ':': '' }) as Scope
const NO_ATTRIBUTES: readonly XmlAttribute[] = []
const NO_RAW: readonly string[] = []

const TAB = 0x09
const LINE_FEED = 0x0a
const SPACE = 0x20
const BANG = 0x21
const DOUBLE = 0x22
const SINGLE = 0x27
const SLASH = 0x2f
const LESS = 0x3c
const EQUALS = 0x3d
const GREATER = 0x3e
const QUESTION = 0x3f

export interface ParseOptions {
  /**
   * Is told of a prefix that is not declared, and the name is taken for one in a namespace of its own. Without it, such a
   * document is refused (Namespaces in XML 1.0, section 5).
   */
  readonly undeclared?: (prefix: string) => void
  /** Namespaces in scope around the text, when it is a piece of a document. Default: none. */
  readonly scope?: Scope
  /** Takes down where the children of each `xs:schema` stand in the text, as `normalXml` gives it. */
  readonly spans?: Map<XmlElement, Span>
}

/** From its `<` up to behind its last `>`. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The text as the parser goes through it: without a byte order mark, and with line feeds for line ends (XML 1.0, section 2.11). */
export function normalXml(text: string): string {
  const document = text.startsWith('\ufeff') ? text.slice(1) : text
  return document.includes('\r') ? document.replaceAll(/\r\n?/g, '\n') : document
}

/**
 * Parses a document, without a DTD, in one pass.
 *
 * @throws XmlError for whatever is not well-formed or not namespace-well-formed, has a document type declaration, nests
 *   past `XML_DEPTH_MAX`, or has a tag past `XML_TAG_CHARS_MAX`.
 */
export function parseXml(text: string, options: ParseOptions = {}): XmlElement {
  if (!isXmlText(text)) throw new XmlError('holds a character that XML does not allow')
  const normal = normalXml(text)
  if (!/^\s*</.test(normal)) throw new XmlError('is not XML')
  return new Parser(normal, options).document()
}

class Parser {
  readonly #text: string
  readonly #undeclared: ParseOptions['undeclared']
  readonly #scope: Scope
  readonly #spans: ParseOptions['spans']
  readonly #names = new Map<string, Name>()
  readonly #open: Element[] = []
  #root: Element | undefined
  #current: Element | undefined
  #at = 0
  /** The open child of an `xs:schema` whose end is to be taken down, and where it starts. */
  #spanned: Element | undefined
  #spannedFrom = 0

  constructor(text: string, { undeclared, scope = ROOT_SCOPE, spans }: ParseOptions) {
    this.#text = text
    this.#undeclared = undeclared
    this.#scope = scope
    this.#spans = spans
  }

  document(): XmlElement {
    const text = this.#text
    for (;;) {
      const less = text.indexOf('<', this.#at)
      this.#characters(this.#at, less === -1 ? text.length : less)
      if (less === -1) break
      this.#at = less + 1
      const next = text.charCodeAt(less + 1)
      if (next === SLASH) this.#end()
      else if (next === BANG || next === QUESTION) this.#special(less, next)
      else this.#start(less)
    }
    if (this.#current !== undefined) throw this.#broken(`<${this.#current.raw.slice(0, 80)}> is not closed`)
    if (this.#root === undefined) throw new XmlError('has no root element')
    return this.#root
  }

  #characters(from: number, to: number): void {
    if (from >= to) return
    const raw = this.#text.slice(from, to)
    if (this.#current === undefined) {
      if (raw.trim() !== '') throw this.#broken('text stands outside the root element')
      return
    }
    this.#append(raw.includes('&') ? replaceReferences(raw) : raw)
  }

  #append(text: string): void {
    const nodes = this.#current?.nodes
    if (nodes === undefined) throw this.#broken('text stands outside the root element')
    const last = nodes.length - 1
    const before = nodes[last]
    if (typeof before === 'string') nodes[last] = before + text
    else nodes.push(text)
  }

  /** A comment, CDATA section or processing instruction. */
  #special(less: number, next: number): void {
    const text = this.#text
    const kind = next === QUESTION ? '?' : text.startsWith('<!--', less) ? '!--' : '![CDATA['
    if (!text.startsWith(kind, less + 1)) {
      throw new XmlError('has a document type declaration (DOCTYPE), which is not allowed')
    }
    const close = kind === '?' ? '?>' : kind === '!--' ? '-->' : ']]>'
    const from = less + 1 + kind.length
    const end = text.indexOf(close, from)
    if (end === -1) throw this.#broken('it ends within a comment, CDATA section or instruction')
    if (kind === '![CDATA[') this.#append(text.slice(from, end))
    this.#at = end + close.length
  }

  #end(): void {
    const text = this.#text
    const current = this.#current
    const from = this.#at + 1
    const close = text.indexOf('>', from)
    if (current === undefined || close === -1) throw this.#broken('an end tag has no start tag')
    const length = current.raw.length
    const matches =
      text.startsWith(current.raw, from) && (close === from + length || isBlank(text, from + length, close))
    if (!matches) {
      throw this.#broken(`<${current.raw.slice(0, 80)}> is ended by </${text.slice(from, Math.min(close, from + 80))}>`)
    }
    this.#at = close + 1
    if (current === this.#spanned) {
      this.#span(current, this.#spannedFrom)
      this.#spanned = undefined
    }
    this.#open.pop()
    this.#current = this.#open.at(-1)
  }

  #start(less: number): void {
    const text = this.#text
    const nameEnd = this.#nameEnd(less + 1, less)
    const raw = text.slice(less + 1, nameEnd)
    const pairs = this.#pairs(nameEnd, less)
    const empty = text.charCodeAt(this.#at) === SLASH
    if (empty && text.charCodeAt(this.#at + 1) !== GREATER)
      throw this.#broken(`the tag <${raw.slice(0, 80)}> is not closed`)
    this.#at += empty ? 2 : 1
    const parent = this.#current
    const around = parent === undefined ? this.#scope : parent.scope
    const scope = pairs.length === 0 ? around : this.#scopeOf(pairs, around)
    const name = this.#name(raw)
    const attributes = pairs.length === 0 ? NO_ATTRIBUTES : this.#attributesOf(pairs, scope)
    const element = new Element(raw, name, this.#namespace(name, scope), attributes, scope)
    if (parent !== undefined) parent.nodes.push(element)
    else if (this.#root === undefined) this.#root = element
    else throw this.#broken('there is a second root element')
    // A schema within a definition, such as in its documentation, defines nothing.
    const isDefinition = this.#spanned === undefined && parent?.name === 'schema' && parent.namespace === NS.xsd
    if (this.#spans !== undefined && isDefinition) {
      if (empty) this.#span(element, less)
      else {
        this.#spanned = element
        this.#spannedFrom = less
      }
    }
    if (empty) return
    if (this.#open.length >= XML_DEPTH_MAX) throw new XmlError('nests too deeply')
    this.#open.push(element)
    this.#current = element
  }

  #span(element: Element, from: number): void {
    this.#spans?.set(element, { from, to: this.#at })
  }

  /** Names and values of a tag by turns, up to its `>` or `/>`, where `#at` is left. */
  #pairs(from: number, less: number): readonly string[] {
    const text = this.#text
    let at = from
    let pairs: string[] | undefined
    for (;;) {
      const before = at
      while (isSpace(text.charCodeAt(at))) at++
      const code = text.charCodeAt(at)
      if (code === GREATER || code === SLASH) break
      if (at === before || Number.isNaN(code))
        throw this.#broken('a tag is not closed, or has no space between attributes', at)
      const nameEnd = this.#nameEnd(at, less)
      const name = text.slice(at, nameEnd)
      at = nameEnd
      while (isSpace(text.charCodeAt(at))) at++
      if (text.charCodeAt(at) !== EQUALS) throw this.#broken(`the attribute ${name.slice(0, 80)} has no value`, at)
      at++
      while (isSpace(text.charCodeAt(at))) at++
      const quote = text.charCodeAt(at)
      if (quote !== DOUBLE && quote !== SINGLE)
        throw this.#broken(`the attribute ${name.slice(0, 80)} is not quoted`, at)
      const end = text.indexOf(quote === DOUBLE ? '"' : "'", at + 1)
      if (end === -1) throw this.#broken(`the attribute ${name.slice(0, 80)} is not closed`, at)
      if (end - less > XML_TAG_CHARS_MAX) throw new XmlError('has a tag that is too long')
      pairs ??= []
      pairs.push(name, this.#attributeValue(text.slice(at + 1, end)))
      at = end + 1
    }
    this.#at = at
    return pairs ?? NO_RAW
  }

  #nameEnd(from: number, less: number): number {
    const text = this.#text
    let at = from
    for (let code = text.charCodeAt(at); isNameCode(code); code = text.charCodeAt(at)) at++
    if (at === from) throw this.#broken('a name is missing', from)
    if (at - less > XML_TAG_CHARS_MAX) throw new XmlError('has a tag that is too long')
    return at
  }

  /** XML 1.0, section 3.3.3: white space is a space. */
  #attributeValue(raw: string): string {
    if (raw.includes('<')) throw this.#broken('an attribute holds a "<"')
    const spaced = /[\t\n]/.test(raw) ? raw.replaceAll(/[\t\n]/g, ' ') : raw
    return spaced.includes('&') ? replaceReferences(spaced) : spaced
  }

  #name(raw: string): Name {
    const known = this.#names.get(raw)
    if (known !== undefined) return known
    const colon = raw.indexOf(':')
    const local = raw.slice(colon + 1)
    if (colon === 0 || !isNcName(local) || (colon > 0 && !isNcName(raw.slice(0, colon)))) {
      throw this.#broken(`${raw.slice(0, 80)} is not a name`)
    }
    const key = colon === -1 ? ':' : `:${raw.slice(0, colon)}`
    const name: Name = { key, local, scope: undefined, namespace: '' }
    this.#names.set(raw, name)
    return name
  }

  #namespace(name: Name, scope: Scope): string {
    if (name.scope === scope) return name.namespace
    name.scope = scope
    name.namespace = scope[name.key] ?? this.#unknown(name.key)
    return name.namespace
  }

  #unknown(key: string): string {
    if (this.#undeclared === undefined) throw new XmlError('has a name whose prefix is not declared')
    this.#undeclared(key.slice(1))
    return `undeclared${key}`
  }

  #scopeOf(pairs: readonly string[], parent: Scope): Scope {
    let scope: Record<string, string> | undefined
    for (let i = 0; i < pairs.length; i += 2) {
      const name = pairs[i] ?? ''
      if (!name.startsWith('xmlns') || (name.length > 5 && name[5] !== ':')) continue
      const prefix = name.slice(6)
      const uri = pairs[i + 1] ?? ''
      if (name.length > 5 && (uri === '' || prefix === '')) throw new XmlError('has a prefix that is bound to nothing')
      scope ??= Object.create(parent) as Record<string, string>
      const key = `:${prefix}`
      if (Object.hasOwn(scope, key)) throw this.#broken(`the attribute ${name.slice(0, 80)} is there twice`)
      scope[key] = currentNamespace(uri)
    }
    return scope ?? parent
  }

  #attributesOf(pairs: readonly string[], scope: Scope): readonly XmlAttribute[] {
    const attributes: XmlAttribute[] = []
    const seen = pairs.length > 16 ? new Set<string>() : undefined
    for (let i = 0; i < pairs.length; i += 2) {
      const raw = pairs[i] ?? ''
      if (raw === 'xmlns' || raw.startsWith('xmlns:')) continue
      const name = this.#name(raw)
      const { local } = name
      const namespace = name.key === ':' ? '' : this.#namespace(name, scope)
      const twice =
        seen === undefined
          ? attributes.some((one) => one.name === local && one.namespace === namespace)
          : seen.size === seen.add(`${namespace} ${local}`).size
      if (twice) throw this.#broken(`the attribute ${raw.slice(0, 80)} is there twice`)
      attributes.push({ namespace, name: local, value: pairs[i + 1] ?? '' })
    }
    return attributes
  }

  #broken(what: string, at = this.#at): XmlError {
    let line = 1
    for (let i = this.#text.indexOf('\n'); i !== -1 && i < at; i = this.#text.indexOf('\n', i + 1)) line++
    return new XmlError(`is not well-formed XML: ${what} (line ${line})`)
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === TAB
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isSpace(text.charCodeAt(at))) return false
  return true
}

/** What cannot end a name; whether it may be within one is looked at once for each name. */
function isNameCode(code: number): boolean {
  return (
    code > SPACE &&
    code !== EQUALS &&
    code !== GREATER &&
    code !== SLASH &&
    code !== LESS &&
    code !== DOUBLE &&
    code !== SINGLE
  )
}
