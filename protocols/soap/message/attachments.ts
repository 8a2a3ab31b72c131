import { randomUUID } from 'node:crypto'
import { SOAP_ATTACHMENTS_MAX, SOAP_MTOM_BYTES_MIN } from '../../../lib/base/limits/soap.ts'
import { BUILTINS } from '../schema/builtin.ts'
import { type Encoding, isObject, type JsonObject } from './encoding.ts'
import type { Attachment } from './multipart.ts'
import { NS } from '../xml/names.ts'

const BINARY = 'application/octet-stream'
/** RFC 2045, section 5.1, without characters that could end a header. */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,80}\/[\w!#$&^.+-]{1,80}(?:\s*;\s*[\w.+-]{1,40}=(?:[\w.+-]{1,80}|"[\w .+:/@-]{0,80}"))*$/
const BASE64 = BUILTINS.get('base64Binary')

/** The attachments of one request. */
export class Attachments {
  /** True if binary elements are sent as attachments as well (XOP). */
  readonly mtom: boolean
  readonly parts: Attachment[] = []
  #isReferenced = false

  constructor(mtom: boolean) {
    this.mtom = mtom
  }

  /** True if the envelope has XOP references, which need MTOM. */
  get isReferenced(): boolean {
    return this.#isReferenced
  }

  /** True if the base64 text of an element should be sent as an attachment. */
  takes(base64: string): boolean {
    const bytes = (base64.length / 4) * 3
    return this.mtom && bytes >= SOAP_MTOM_BYTES_MIN && this.parts.length < SOAP_ATTACHMENTS_MAX
  }

  /** Adds an attachment and returns the id for references to it. */
  add(bytes: Uint8Array, type: string | undefined, name = ''): string {
    // WS-I Attachments Profile 1.0, R2933: the name of the part, then a unique suffix.
    const id = `${name === '' ? '' : `${encodeURIComponent(name)}=`}${randomUUID()}@souk`
    this.parts.push({ id, type: type ?? BINARY, bytes })
    return id
  }

  /** Replaces an element's base64 with a XOP reference (XOP, section 3.1). */
  write(encoder: Encoding, base64: string, type: unknown): void {
    const { writer } = encoder
    this.#isReferenced = true
    const id = this.add(Buffer.from(base64, 'base64'), typeof type === 'string' && isMediaType(type) ? type : undefined)
    writer.open(NS.xop, 'Include')
    writer.attribute('', 'href', `cid:${id}`)
    writer.close()
  }

  /** Adds an attachment from `{contentType, content}` or base64. @throws SoukError `invalid_request` */
  given(encoder: Encoding, value: unknown, types: readonly string[], name = ''): string {
    const { content, contentType } = isObject(value) ? value : ({ content: value } as JsonObject)
    if (isObject(value)) {
      const unknown = Object.keys(value).find((one) => one !== 'content' && one !== 'contentType')
      if (unknown !== undefined)
        encoder.at(unknown, () => refuse(encoder, 'is not known here; known: contentType, content'))
    }
    const base64 = BASE64?.write(content)
    if (base64 === undefined) {
      const rule = 'must be base64, or an object with contentType and content in base64'
      throw encoder.refuse(rule, content)
    }
    const type =
      contentType === undefined
        ? types.find((one) => isMediaType(one) && !one.includes('*'))
        : chosenType(encoder, contentType, types)
    return this.add(Buffer.from(base64, 'base64'), type, name)
  }
}

function chosenType(encoder: Encoding, type: unknown, types: readonly string[]): string | undefined {
  const at = (rule: string) => {
    encoder.at('contentType', () => refuse(encoder, rule, type))
  }
  if (typeof type !== 'string' || !isMediaType(type)) {
    at('must be a media type like image/png')
    return undefined
  }
  const plain = (type.split(';', 1)[0] ?? '').trim().toLowerCase()
  const allowed = types.length === 0 || types.some((one) => matches(one.toLowerCase(), plain))
  if (!allowed) at(`must be one of ${types.slice(0, 20).join(', ')}`)
  return type
}

function matches(declared: string, type: string): boolean {
  const [plain = ''] = declared.split(';', 1)
  if (plain.trim() === '*/*' || plain.trim() === '*') return true
  return plain.trim().endsWith('/*') ? type.startsWith(plain.trim().slice(0, -1)) : plain.trim() === type
}

function refuse(encoder: Encoding, rule: string, value?: unknown): never {
  throw encoder.refuse(rule, value)
}

function isMediaType(text: string): boolean {
  return text.length <= 200 && MEDIA_TYPE.test(text)
}

/** The inverse of `given`. */
export function shownAttachment({ type, bytes }: Attachment): {
  readonly contentType: string
  readonly content: string
} {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { contentType: (type ?? BINARY).slice(0, 200), content }
}
