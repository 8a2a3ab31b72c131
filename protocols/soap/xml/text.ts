import { XmlError } from './error.ts'

const DECLARED = /^<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/
const WIDE = /^(?:utf-?16|ucs-?2|iso-10646-ucs-2)/i
const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]+)"?/i
/** Not characters by XML 1.0, section 2.2; lone surrogates are not either. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/

export function isXmlText(text: string): boolean {
  return !NOT_XML.test(text) && text.isWellFormed()
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** Only a reference can write these characters (XML 1.1, section 2.2). .NET writes them in documents of XML 1.0 too. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /^[\x01-\x1f]$/

const REFERENCE = /&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/y

/**
 * Replaces references (XML 1.0, section 4.6). Five names are known without a declaration; any other is an error. Matches are
 * replaced one at a time, because `replace` with a function first collects all of them, which takes hundreds of megabytes for a
 * long text.
 *
 * @throws XmlError
 */
export function replaceReferences(text: string): string {
  const pieces: string[] = []
  let from = 0
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', from)) {
    REFERENCE.lastIndex = at
    const match = REFERENCE.exec(text)
    const char = match === null ? '\0' : referenced(match)
    if (!isXmlText(char) && !CONTROL.test(char))
      throw new XmlError('has a reference to an entity or character that is not defined')
    pieces.push(text.slice(from, at), char)
    from = REFERENCE.lastIndex
  }
  pieces.push(text.slice(from))
  return pieces.join('')
}

function referenced([, hex, decimal, name]: readonly string[]): string {
  if (name !== undefined) return NAMED[name] ?? ''
  const code = hex === undefined ? Number.parseInt(decimal ?? '', 10) : Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\0'
}

/** Replaces white space in an attribute value by spaces (XML 1.0, section 3.3.3), and references. @throws XmlError */
export function attributeText(raw: string): string {
  const spaced = /[\t\n]/.test(raw) ? raw.replaceAll(/[\t\n]/g, ' ') : raw
  return spaced.includes('&') ? replaceReferences(spaced) : spaced
}

/** Removes a byte order mark, and converts line ends to line feeds (XML 1.0, section 2.11). */
export function normalXml(text: string): string {
  const document = text.startsWith('\ufeff') ? text.slice(1) : text
  return document.includes('\r') ? document.replaceAll(/\r\n?/g, '\n') : document
}

/** The line number of this index, starting at 1. */
export function lineAt(text: string, at: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < at; i = text.indexOf('\n', i + 1)) line++
  return line
}

/**
 * Decodes an XML document. The charset comes from the byte order mark, else the transport's content type (RFC 7303, section 3.2),
 * else the document's own declaration, else it is UTF-8. The declaration also decides if the text is not in the charset of the
 * content type, which may be a default of the server.
 *
 * @throws XmlError for invalid bytes or an unknown charset.
 */
export function decodeXml(bytes: Uint8Array, contentType = ''): string {
  const mark = byteOrderMark(bytes)
  const own = mark === undefined ? declared(bytes) : undefined
  const label = mark ?? CHARSET.exec(contentType)?.[1] ?? own ?? 'utf-8'
  try {
    return decodedBy(label, bytes)
  } catch (error) {
    if (own === undefined || own.toLowerCase() === label.toLowerCase()) throw error
    return decodedBy(own, bytes)
  }
}

function decodedBy(label: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new XmlError(`is not text in the charset ${label}`, { cause })
  }
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return undefined
}

function declared(bytes: Uint8Array): string | undefined {
  // UTF-16 without a mark is recognised by the first character, which is always "<" (XML 1.0, appendix F.1).
  if (bytes[0] === 0 && bytes[1] === 0x3c) return 'utf-16be'
  if (bytes[0] === 0x3c && bytes[1] === 0) return 'utf-16le'
  const label = DECLARED.exec(new TextDecoder('latin1').decode(bytes.subarray(0, 200)))?.[1]
  // A declaration with a byte for each character is wrong about UTF-16. .NET writes it if the document was a string before.
  return label === undefined || WIDE.test(label) ? undefined : label
}
