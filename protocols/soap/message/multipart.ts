import { randomUUID } from 'node:crypto'
import { utf8 } from '../../../lib/base/bytes.ts'
import { SOAP_ATTACHMENTS_MAX } from '../../../lib/base/limits/soap.ts'
import { NS } from '../xml/names.ts'
import { fromQuotedPrintable } from './quoted-printable.ts'
import type { SoapVersion } from '../wsdl/wsdl.ts'
import { XmlError } from '../xml/error.ts'
import type { XmlElement } from '../xml/tree.ts'

/** A SOAP response with its attachments (RFC 2387; SOAP with Attachments; XOP). */
export interface Package {
  /** The part with the envelope. */
  readonly root: { readonly type: string | undefined; readonly bytes: Uint8Array }
  /** The other parts by `Content-ID`, in message order. */
  readonly attachments: ReadonlyMap<string, Attachment>
}

export interface Attachment {
  /** `Content-ID` without its angle brackets. */
  readonly id: string
  readonly type: string | undefined
  readonly bytes: Uint8Array
}

const LINE_END = '\r\n'
const CARRIAGE_RETURN = 13
const NOT_BASE64 = /[^A-Za-z0-9+/=\s]/
const MULTIPART = /^\s*multipart\/related\s*(?:;|$)/i

export function isMultipart(type: string | undefined): boolean {
  return type !== undefined && MULTIPART.test(type)
}

/** @throws XmlError if the parts cannot be separated, or none has an envelope. */
export function readMultipart(bytes: Uint8Array, type: string): Package {
  const boundary = parameter(type, 'boundary')
  if (boundary === undefined || boundary === '') throw new XmlError('has parts, but no boundary between them')
  const parts = partsOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), boundary)
  const start = parameter(type, 'start')
  const root = (start === undefined ? undefined : parts.find(({ id }) => id === bare(start))) ?? parts[0]
  if (root === undefined) throw new XmlError('has no part with an envelope')
  const attachments = new Map<string, Attachment>()
  for (const [index, part] of parts.entries()) {
    if (part === root) continue
    // A part without an id of its own cannot be referenced, so its position identifies it.
    const id = part.id === undefined || attachments.has(part.id) ? `#${index}` : part.id
    attachments.set(id, { ...part, id })
  }
  return { root, attachments }
}

interface Part {
  readonly id: string | undefined
  readonly type: string | undefined
  readonly bytes: Uint8Array
}

function partsOf(bytes: Buffer, boundary: string): Part[] {
  const parts: Part[] = []
  const mark = `--${boundary}`
  let at = bytes.indexOf(mark)
  const lineEnd = lineEndFrom(bytes, at + mark.length)
  while (at !== -1) {
    const from = at + mark.length
    if (bytes.toString('latin1', from, from + 2) === '--') return parts
    const next = bytes.indexOf(`${lineEnd}${mark}`, from)
    if (next === -1) break
    if (parts.length >= SOAP_ATTACHMENTS_MAX) throw new XmlError('has too many attachments')
    parts.push(partOf(bytes.subarray(from, next), lineEnd))
    at = next + lineEnd.length
  }
  throw new XmlError('breaks off within its parts')
}

/** The end of the line at this position: CRLF (RFC 2046, section 4.1.1), or LF, as some servers write all lines. */
function lineEndFrom(bytes: Buffer, from: number): string {
  return bytes[bytes.indexOf('\n', from) - 1] === CARRIAGE_RETURN ? LINE_END : '\n'
}

function partOf(bytes: Buffer, lineEnd: string): Part {
  const end = bytes.indexOf(lineEnd + lineEnd)
  if (end === -1) throw new XmlError('has a part without headers')
  const headers = bytes.toString('latin1', 0, end).replaceAll(/\r?\n[ \t]+/g, ' ')
  const header = (name: string) => new RegExp(`^${name}:(.*)$`, 'im').exec(headers)?.[1]?.trim()
  const id = header('content-id')
  return {
    id: id === undefined ? undefined : bare(id),
    type: header('content-type'),
    bytes: transferred(bytes.subarray(end + 2 * lineEnd.length), header('content-transfer-encoding'))
  }
}

/** The content without its transfer encoding (RFC 2045, section 6). @throws XmlError */
function transferred(content: Buffer, encoding: string | undefined): Buffer {
  switch (encoding?.toLowerCase()) {
    case 'base64': {
      const text = content.toString('latin1')
      if (NOT_BASE64.test(text)) throw new XmlError('has an attachment that says it is base64 and is not')
      return Buffer.from(text, 'base64')
    }
    case 'quoted-printable':
      return fromQuotedPrintable(content)
    default:
      return content
  }
}

function parameter(type: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^;\\s]*))`, 'i').exec(type)
  return match?.[1] ?? match?.[2]
}

function bare(id: string): string {
  return id.trim().replace(/^<(.*)>$/, '$1')
}

/**
 * Replaces the references to attachments with base64, the inverse of XOP (XOP, section 3.2). Each attachment is used once, so
 * that a small response cannot expand to a large one.
 * @throws XmlError for an unresolved or a repeated reference
 */
export function unpack(element: XmlElement, attachments: Map<string, Attachment>): XmlElement {
  const nodes = element.nodes.map((node) => {
    if (typeof node === 'string') return node
    if (node.namespace !== NS.xop || node.name !== 'Include') return unpack(node, attachments)
    const href = node.attributes.find(({ name, namespace }) => name === 'href' && namespace === '')?.value ?? ''
    const { bytes } = taken(attachments, href)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  })
  return { ...element, nodes }
}

/** Removes and returns the attachment of a `cid:`. @throws XmlError */
export function taken(attachments: Map<string, Attachment>, href: string): Attachment {
  const written = href.trim().replace(/^cid:/i, '')
  // Some servers write the escaped form as the `Content-ID` too.
  const id = attachments.has(written) ? written : decoded(written)
  const attachment = attachments.get(id)
  if (attachment === undefined) throw new XmlError('points to an attachment that is not in it')
  attachments.delete(id)
  return attachment
}

/** A `cid:` is URL-encoded (RFC 2392). */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

export interface Written {
  /** The content type of the whole message. */
  readonly type: string
  readonly bytes: Uint8Array
}

const ENVELOPE_TYPES: Readonly<Record<SoapVersion, string>> = { '1.1': 'text/xml', '1.2': 'application/soap+xml' }

/**
 * Writes an envelope with its attachments: as XOP (MTOM; XOP, section 4.1) if `mtom`, else as SOAP Messages with Attachments.
 * SOAP 1.2 has its action in the content type, where CXF and WCF read it.
 * @param action without quotes and line ends
 */
export function writeMultipart(
  envelope: string,
  { version, action, mtom }: { readonly version: SoapVersion; readonly action: string; readonly mtom: boolean },
  attachments: readonly Attachment[]
): Written {
  const boundary = `souk-${randomUUID()}`
  const start = 'envelope@souk'
  const own = ENVELOPE_TYPES[version]
  const said = version === '1.1' || action === '' ? '' : `; action="${action}"`
  const root = mtom ? `application/xop+xml; charset=UTF-8; type="${own}"${said}` : `${own}; charset=UTF-8${said}`
  const chunks: Uint8Array[] = []
  const add = (id: string, type: string, bytes: Uint8Array) => {
    const head = [
      `--${boundary}`,
      `Content-Type: ${type}`,
      'Content-Transfer-Encoding: binary',
      `Content-ID: <${id}>`,
      LINE_END
    ]
    chunks.push(utf8(head.join(LINE_END)), bytes, utf8(LINE_END))
  }
  add(start, root, utf8(envelope))
  for (const { id, type = 'application/octet-stream', bytes } of attachments) add(id, type, bytes)
  chunks.push(utf8(`--${boundary}--${LINE_END}`))
  const kind = mtom ? `type="application/xop+xml"; start-info="${own}"` : `type="${own}"`
  return {
    type: `multipart/related; ${kind}; start="<${start}>"; boundary="${boundary}"${said}`,
    bytes: Buffer.concat(chunks)
  }
}
