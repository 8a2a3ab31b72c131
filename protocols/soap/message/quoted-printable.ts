/** An octet, or a line break that is not content. */
const CODE = /=(?:([\dA-F]{2})|[ \t]*\r?\n)/gi

/** Decodes the transfer encoding quoted-printable (RFC 2045, section 6.7). A `=` before anything else is kept. */
export function fromQuotedPrintable(coded: Buffer): Buffer {
  const bytes = Buffer.alloc(coded.length)
  let [length, from] = [0, 0]
  for (const { 0: code, 1: octet, index } of coded.toString('latin1').matchAll(CODE)) {
    length += coded.copy(bytes, length, from, index)
    if (octet !== undefined) bytes[length++] = Number.parseInt(octet, 16)
    from = index + code.length
  }
  length += coded.copy(bytes, length, from)
  return bytes.subarray(0, length)
}
