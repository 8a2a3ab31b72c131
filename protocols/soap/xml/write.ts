import { SoukError } from '../../../lib/base/errors.ts'
import { escapeAttribute, escapeText } from './escape.ts'
import { NS, type QName } from './names.ts'
import { isXmlText } from './text.ts'

/** Conventional prefixes; any other namespace gets `n1`, `n2`, … */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  [NS.envelope11, 'soap'],
  [NS.envelope12, 'soap'],
  [NS.encoding11, 'soapenc'],
  [NS.xsi, 'xsi'],
  [NS.xsd, 'xsd']
])

/** A prefixed name, with the prefix to declare. */
interface Tag {
  readonly name: string
  readonly prefix: Prefix | undefined
}

interface Prefix {
  readonly name: string
  readonly namespace: string
  readonly index: number
}

/**
 * Prefixes of a schema's namespaces. All documents share them, so that each prefixed name is built only once. A caller's own
 * namespaces are not added, because they would fill it permanently.
 */
export class Prefixes {
  readonly #prefixes = new Map<string, Prefix>()
  readonly #tags = new WeakMap<QName, Tag>()

  known(namespace: string): Prefix | undefined {
    return this.#prefixes.get(namespace)
  }

  #of(namespace: string): Prefix {
    let prefix = this.#prefixes.get(namespace)
    if (prefix === undefined) {
      const index = this.#prefixes.size
      prefix = { name: `n${index}`, namespace, index }
      this.#prefixes.set(namespace, prefix)
    }
    return prefix
  }

  /** @param name an object of the schema model, which lives as long as this */
  tag(name: QName): Tag {
    let tag = this.#tags.get(name)
    if (tag === undefined) {
      const prefix = name.namespace === '' ? undefined : this.#of(name.namespace)
      tag = { name: prefix === undefined ? name.name : `${prefix.name}:${name.name}`, prefix }
      this.#tags.set(name, tag)
    }
    return tag
  }
}

/**
 * Writes one XML document. Names must be valid; texts are escaped here. Every namespace gets a prefix at first use and is
 * declared at the root. There is no default namespace, so a name without a prefix is in no namespace.
 */
export class XmlWriter {
  readonly #prefixes: Prefixes
  /** The used prefixes, at their index. */
  readonly #used: Prefix[] = []
  /** Prefixes of namespaces outside the schema. */
  readonly #own = new Map<string, string>()
  readonly #open: string[] = []
  #out = ''
  /** True while the last start tag lacks its `>`. */
  #inTag = false
  /** The text up to the declarations in the root's start tag. It is separate, so that adding them copies no text. */
  #head = ''

  constructor(prefixes = new Prefixes()) {
    this.#prefixes = prefixes
  }

  open(namespace: string, name: string): void {
    this.#start(this.qname(namespace, name))
  }

  /** Opens an element of the schema model. */
  openElement(name: QName): void {
    const tag = this.#prefixes.tag(name)
    if (tag.prefix !== undefined) this.#used[tag.prefix.index] = tag.prefix
    this.#start(tag.name)
  }

  /** Only directly after `open`. @throws SoukError `invalid_request` for a character that XML does not allow. */
  attribute(namespace: string, name: string, value: string): void {
    this.#out += ` ${this.qname(namespace, name)}="${escapeAttribute(checked(value))}"`
  }

  /** @throws SoukError `invalid_request` for a character that XML does not allow. */
  text(value: string): void {
    this.raw(escapeText(checked(value)))
  }

  /** Writes text that `xmlText` has escaped. */
  raw(escaped: string): void {
    if (escaped === '') return
    this.#endTag()
    this.#out += escaped
  }

  close(): void {
    const tag = this.#open.pop() ?? ''
    this.#out += this.#inTag ? '/>' : `</${tag}>`
    this.#inTag = false
  }

  /** The prefixed name, also for a QName in content. */
  qname(namespace: string, name: string): string {
    if (namespace === '') return name
    if (namespace === NS.xml) return `xml:${name}`
    const shared = this.#prefixes.known(namespace)
    if (shared !== undefined) this.#used[shared.index] = shared
    return `${shared === undefined ? this.#ownPrefix(namespace) : shared.name}:${name}`
  }

  /** The whole document, after the root is closed. */
  document(): string {
    let declarations = ''
    // Unused indices are holes, which forEach skips.
    this.#used.forEach(({ name, namespace }) => {
      declarations += ` xmlns:${name}="${escapeAttribute(namespace)}"`
    })
    for (const [namespace, name] of this.#own) declarations += ` xmlns:${name}="${escapeAttribute(namespace)}"`
    return `<?xml version="1.0" encoding="utf-8"?>\n${this.#head}${declarations}${this.#out}`
  }

  #ownPrefix(namespace: string): string {
    let prefix = this.#own.get(namespace)
    if (prefix === undefined) {
      const usual = WELL_KNOWN.get(namespace)
      const free = usual !== undefined && ![...this.#own.values()].includes(usual)
      prefix = free ? usual : `x${this.#own.size}`
      this.#own.set(namespace, prefix)
    }
    return prefix
  }

  #start(tag: string): void {
    this.#endTag()
    if (this.#open.length > 0) this.#out += `<${tag}`
    else {
      this.#head = `${this.#out}<${tag}`
      this.#out = ''
    }
    this.#open.push(tag)
    this.#inTag = true
  }

  #endTag(): void {
    if (this.#inTag) this.#out += '>'
    this.#inTag = false
  }
}

/** Characters that must be escaped or are not allowed. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const SPECIAL = /[&<>\r\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/

/** The escaped text; undefined if XML cannot represent it. */
export function xmlText(value: string): string | undefined {
  if (!SPECIAL.test(value)) return value
  return isXmlText(value) ? escapeText(value) : undefined
}

function checked(value: string): string {
  if (!isXmlText(value)) {
    throw new SoukError('invalid_request', 'A text holds a control character that XML cannot carry.')
  }
  return value
}
