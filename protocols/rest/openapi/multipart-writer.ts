import { randomBytes } from 'node:crypto'
import { utf8 } from '../../../lib/base/bytes.ts'

/** A media type that a header can have: no line break ends it. */
const PRINTABLE = /^[ -~]+$/
const BOUNDARY_BYTES = 16

export interface PartHeader {
  readonly name: string
  /** Default: none, which means text. */
  readonly type?: string | undefined
  /** Servers take a part with a file name for an uploaded file, and one without for a value (RFC 7578, section 4.2). */
  readonly fileName?: string
}

/** Writes a multipart body, with each part as it is. `FormData` gives each typed part a file name, and changes line breaks. */
export class MultipartWriter {
  readonly #mediaType: string
  readonly #boundary = `souk-${randomBytes(BOUNDARY_BYTES).toString('hex')}`
  readonly #chunks: Uint8Array[] = []

  /** @param mediaType - `multipart/form-data`, or another one, whose parts have no name */
  constructor(mediaType: string) {
    this.#mediaType = mediaType
  }

  get type(): string {
    return `${this.#mediaType}; boundary=${this.#boundary}`
  }

  add(content: string | Uint8Array, { name, type, fileName }: PartHeader): void {
    const file = fileName === undefined ? '' : `; filename=${quoted(fileName)}`
    const lines = [
      ...(this.#mediaType.startsWith('multipart/form-data')
        ? [`Content-Disposition: form-data; name=${quoted(name)}${file}`]
        : []),
      ...(type !== undefined && PRINTABLE.test(type) ? [`Content-Type: ${type}`] : [])
    ]
    const head = utf8(`--${this.#boundary}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)
    this.#chunks.push(head, typeof content === 'string' ? utf8(content) : content, utf8('\r\n'))
  }

  bytes(): Uint8Array {
    return Buffer.concat([...this.#chunks, utf8(`--${this.#boundary}--\r\n`)])
  }
}

/** As browsers write it (HTML, section 4.10.21.8). */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')}"`
}
