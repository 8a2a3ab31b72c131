import { SoukError } from '../../lib/base/errors.ts'
import { NS } from './names.ts'
import { isXmlText } from './xml-text.ts'

/** Prefixes that readers of envelopes know; any other namespace gets `n1`, `n2`, … */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  [NS.envelope11, 'soap'],
  [NS.envelope12, 'soap'],
  [NS.xsi, 'xsi'],
  [NS.xsd, 'xsd']
])

/**
 * Writes one XML document. Names must be right already; texts are escaped here. Every namespace gets its prefix when first
 * used and is declared at the root, there is no default namespace, so a name without a prefix is in no namespace.
 */
export class XmlWriter {
  readonly #prefixes = new Map<string, string>([[NS.xml, 'xml']])
  readonly #open: string[] = []
  #out = ''
  /** The last start tag still lacks its `>`. */
  #inTag = false
  /** Where the root's start tag takes the declarations. */
  #declarationsAt = 0

  open(namespace: string, name: string): void {
    this.#endTag()
    const tag = this.qname(namespace, name)
    this.#out += `<${tag}`
    if (this.#open.length === 0) this.#declarationsAt = this.#out.length
    this.#open.push(tag)
    this.#inTag = true
  }

  /** Only right after `open`. @throws SoukError `invalid_request` for a character that XML does not allow. */
  attribute(namespace: string, name: string, value: string): void {
    this.#out += ` ${this.qname(namespace, name)}="${escapeAttribute(checked(value))}"`
  }

  /** @throws SoukError `invalid_request` for a character that XML does not allow. */
  text(value: string): void {
    if (value === '') return
    this.#endTag()
    this.#out += escapeText(checked(value))
  }

  close(): void {
    const tag = this.#open.pop() ?? ''
    this.#out += this.#inTag ? '/>' : `</${tag}>`
    this.#inTag = false
  }

  /** The name as it is written here, also for a QName in content. */
  qname(namespace: string, name: string): string {
    return namespace === '' ? name : `${this.#prefix(namespace)}:${name}`
  }

  /** The whole document, once the root is closed. */
  document(): string {
    let declarations = ''
    for (const [namespace, prefix] of this.#prefixes) {
      if (prefix !== 'xml') declarations += ` xmlns:${prefix}="${escapeAttribute(namespace)}"`
    }
    const at = this.#declarationsAt
    return `<?xml version="1.0" encoding="utf-8"?>\n${this.#out.slice(0, at)}${declarations}${this.#out.slice(at)}`
  }

  #prefix(namespace: string): string {
    let prefix = this.#prefixes.get(namespace)
    if (prefix === undefined) {
      prefix = WELL_KNOWN.get(namespace) ?? `n${this.#prefixes.size}`
      this.#prefixes.set(namespace, prefix)
    }
    return prefix
  }

  #endTag(): void {
    if (this.#inTag) this.#out += '>'
    this.#inTag = false
  }
}

function checked(value: string): string {
  if (!isXmlText(value)) {
    throw new SoukError('invalid_request', 'A text holds a control character that XML cannot carry.')
  }
  return value
}

/** A carriage return must be a reference, or the reader's line-end handling takes it away (XML 1.0, section 2.11). */
const IN_TEXT: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' }
const IN_ATTRIBUTE: Readonly<Record<string, string>> = {
  ...IN_TEXT,
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;'
}

function escapeText(value: string): string {
  return /[&<>\r]/.test(value) ? value.replace(/[&<>\r]/g, (char) => IN_TEXT[char] ?? char) : value
}

function escapeAttribute(value: string): string {
  return /[&<>"\t\n\r]/.test(value) ? value.replace(/[&<>"\t\n\r]/g, (char) => IN_ATTRIBUTE[char] ?? char) : value
}
