import { XML_DEPTH_MAX, XML_PARTS_MAX, XML_TAG_CHARS_MAX } from '../../../lib/base/limits/soap.ts'
import { XmlError, notWellFormed } from './error.ts'
import { Namespaces, ROOT_SCOPE, type XmlName } from './namespaces.ts'
import { attributeText, isXmlText, lineAt, normalXml, replaceReferences } from './text.ts'
import type { Scope, XmlAttribute, XmlElement } from './tree.ts'

class Element implements XmlElement {
  namespace: string
  name: string
  attributes: readonly XmlAttribute[]
  nodes: Array<XmlElement | string> = []
  scope: Scope
  /** The name in the start tag, which the end tag must repeat. */
  readonly raw: string

  constructor(raw: string, name: XmlName, namespace: string, attributes: readonly XmlAttribute[], scope: Scope) {
    this.raw = raw
    this.namespace = namespace
    this.name = name.local
    this.attributes = attributes
    this.scope = scope
  }
}

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

/**
 * Parses a document without a DTD in one pass.
 *
 * @throws XmlError if the document is not well-formed or not namespace-well-formed, has a document type declaration, nests past
 * `XML_DEPTH_MAX`, has a tag past `XML_TAG_CHARS_MAX`, or more than `XML_PARTS_MAX` elements and attributes.
 */
export function parseXml(text: string): XmlElement {
  if (!isXmlText(text)) throw new XmlError('holds a character that XML does not allow')
  const normal = normalXml(text)
  if (!/^\s*</.test(normal)) throw new XmlError('is not XML')
  return new Parser(normal).document()
}

class Parser {
  readonly #text: string
  readonly #namespaces = new Namespaces({ broken: (what) => this.#broken(what) })
  readonly #open: Element[] = []
  #root: Element | undefined
  #current: Element | undefined
  #at = 0
  #parts = 0

  constructor(text: string) {
    this.#text = text
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
      if (raw.trim() !== '') throw this.#broken('there is text outside the root element')
      return
    }
    this.#append(raw.includes('&') ? replaceReferences(raw) : raw)
  }

  #append(text: string): void {
    const nodes = this.#current?.nodes
    if (nodes === undefined) throw this.#broken('there is text outside the root element')
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
    this.#open.pop()
    this.#current = this.#open.at(-1)
  }

  #start(less: number): void {
    const text = this.#text
    const nameEnd = this.#nameEnd(less + 1, less)
    const raw = text.slice(less + 1, nameEnd)
    const pairs = this.#pairs(nameEnd, less)
    this.#parts += 1 + pairs.length / 2
    if (this.#parts > XML_PARTS_MAX) throw new XmlError('has too many elements and attributes')
    const empty = text.charCodeAt(this.#at) === SLASH
    if (empty && text.charCodeAt(this.#at + 1) !== GREATER)
      throw this.#broken(`the tag <${raw.slice(0, 80)}> is not closed`)
    this.#at += empty ? 2 : 1
    const parent = this.#current
    const around = parent === undefined ? ROOT_SCOPE : parent.scope
    const namespaces = this.#namespaces
    const scope = namespaces.scopeOf(pairs, around)
    const name = namespaces.name(raw)
    const attributes = namespaces.attributesOf(pairs, scope)
    const element = new Element(raw, name, namespaces.namespace(name, scope), attributes, scope)
    if (parent !== undefined) parent.nodes.push(element)
    else if (this.#root === undefined) this.#root = element
    else throw this.#broken('there is a second root element')
    if (empty) return
    if (this.#open.length >= XML_DEPTH_MAX) throw new XmlError('nests too deeply')
    this.#open.push(element)
    this.#current = element
  }

  /** The attributes of a tag as alternating names and values. Leaves `#at` at the tag's `>` or `/>`. */
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

  #attributeValue(raw: string): string {
    if (raw.includes('<')) throw this.#broken('an attribute holds a "<"')
    return attributeText(raw)
  }

  #broken(what: string, at = this.#at): XmlError {
    return notWellFormed(what, lineAt(this.#text, at))
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === TAB
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isSpace(text.charCodeAt(at))) return false
  return true
}

/** True for characters that cannot end a name. Whether the name is valid is checked once per name. */
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
