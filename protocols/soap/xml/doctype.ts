/** The start of the document type declaration of a schema. */
const SCHEMA_DOCTYPE = /<!DOCTYPE[ \t\n]+(?:[\w.-]+:)?schema(?![\w.:-])/y
/** Where a declaration can end or hide its end. */
const MARK = /["'<>[\]]/g
/** A comment or an instruction, whose content may have any mark. */
const HIDING = [
  { open: '<!--', close: '-->' },
  { open: '<?', close: '?>' }
]

/**
 * The index after the document type declaration that starts here, if it is that of a schema. W3C's own schemas, such as that of XML
 * Signature, have one. Nothing of it is read: no entity is declared, and no other file is fetched. Undefined without such a
 * declaration.
 */
export function schemaDoctypeEnd(text: string, at: number): number | undefined {
  SCHEMA_DOCTYPE.lastIndex = at
  if (!SCHEMA_DOCTYPE.test(text)) return undefined
  let isInside = false
  for (let from = SCHEMA_DOCTYPE.lastIndex; ; ) {
    MARK.lastIndex = from
    const mark = MARK.exec(text)
    if (mark === null) return undefined
    const [sign] = mark
    if (sign === '>' && !isInside) return mark.index + 1
    if (sign === '[' || sign === ']') isInside = sign === '['
    const close = closeOf(text, mark.index, sign)
    const to = close === undefined ? mark.index : text.indexOf(close, mark.index + 1)
    if (to === -1) return undefined
    from = to + (close?.length ?? 1)
  }
}

/** The end of a text, a comment or an instruction that starts here. */
function closeOf(text: string, at: number, sign: string): string | undefined {
  if (sign === '"' || sign === "'") return sign
  return HIDING.find(({ open }) => text.startsWith(open, at))?.close
}
