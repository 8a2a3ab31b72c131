/** A document that is not well-formed XML. The message completes "The document …" and is safe to show. */
export class XmlError extends Error {
  override readonly name = 'XmlError'
}

export function notWellFormed(what: string, line: number): XmlError {
  return new XmlError(`is not well-formed XML: ${what} (line ${line})`)
}
