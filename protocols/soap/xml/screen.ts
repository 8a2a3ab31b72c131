import { XMLValidator } from 'fast-xml-parser'
import { XML_DEPTH_MAX, XML_TAG_CHARS_MAX } from '../../../lib/base/limits/soap.ts'
import { schemaDoctypeEnd } from './doctype.ts'
import { XmlError, notWellFormed } from './error.ts'
import { isXmlText, lineAt, normalXml } from './text.ts'

/** A start tag or an empty tag (XML 1.0, section 3.1). Only attribute values may contain `>`, and none may contain `<`. */
const START_TAG = /^<[^ \t\n<>=/"']+(?:[ \t\n]+[^ \t\n<>=/"']+[ \t\n]*=[ \t\n]*(?:"[^<"]*"|'[^<']*'))*[ \t\n]*\/?>/
/** Any tag up to its `>`, well-formed or not. */
const TAG = /^<[^"'>]*(?:(?:"[^"]*"|'[^']*')[^"'>]*)*>/
/** The validator's messages contain names from the document. */
const MESSAGE_CHARS_MAX = 200

/**
 * The document in a form that fast-xml-parser can read, with the same positions as in `normalXml`. Processing instructions are
 * masked, because the library looks for attributes in them, so an apostrophe would start a value. So is the document type
 * declaration of a schema.
 *
 * @param validated - true if the document was validated before it was stored
 * @throws XmlError for a document that is not well-formed, has another document type declaration, exceeds the depth `XML_DEPTH_MAX`,
 * or has a tag longer than `XML_TAG_CHARS_MAX`
 */
export function screenedXml(text: string, validated = false): string {
  if (!isXmlText(text)) throw new XmlError('holds a character that XML does not allow')
  const normal = normalXml(text)
  if (!/^\s*</.test(normal)) throw new XmlError('is not XML')
  const screened = screen(normal)
  if (!validated) validate(screened)
  return screened
}

/** Checks what the library does not: unfinished sections, sizes, depth, and text outside the root element. */
function screen(text: string): string {
  const masked: string[] = []
  let copied = 0
  let hasRoot = false
  let hasDoctype = false
  let open = 0
  for (let at = 0; ; ) {
    const less = text.indexOf('<', at)
    if (open === 0 && /\S/.test(text.slice(at, less === -1 ? text.length : less))) throw outside(text, at)
    if (less === -1) break
    const doctypeEnd = hasRoot || hasDoctype ? undefined : schemaDoctypeEnd(text, less)
    if (doctypeEnd !== undefined) {
      // Lines keep their numbers.
      masked.push(text.slice(copied, less), text.slice(less, doctypeEnd).replaceAll(/[^\n]/g, ' '))
      copied = at = doctypeEnd
      hasDoctype = true
      continue
    }
    const section = sectionAt(text, less)
    if (section !== undefined) {
      const { kind, from, to } = section
      if (kind === CDATA && open === 0) throw outside(text, less)
      if (kind === INSTRUCTION) {
        masked.push(text.slice(copied, from), 'x'.repeat(to - from))
        copied = to
      }
      at = to + kind.close.length
      continue
    }
    const { length, step } = tagAt(text, less)
    if (length === 0) {
      validate(masked.join('') + text.slice(copied))
      const name = /^[^\s/>]{0,80}/.exec(text.slice(less + 1))?.[0] ?? ''
      throw broken(text, less, `the tag <${name}> has a "<" in a value, or an attribute without a name`)
    }
    if (open === 0 && hasRoot && step >= 0) throw broken(text, less, 'there is a second root element')
    if (step === 1 && open >= XML_DEPTH_MAX) throw new XmlError('nests too deeply')
    hasRoot = true
    open += step
    at = less + length
  }
  if (!hasRoot) throw new XmlError('has no root element')
  return masked.join('') + text.slice(copied)
}

const COMMENT = { open: '<!--', close: '-->' }
const CDATA = { open: '<![CDATA[', close: ']]>' }
const INSTRUCTION = { open: '<?', close: '?>' }

/**
 * The comment, CDATA section or processing instruction at this position, with the range of its content. Undefined for a tag.
 * @throws XmlError
 */
function sectionAt(text: string, less: number) {
  const next = text[less + 1]
  if (next !== '!' && next !== '?') return undefined
  const kind = [INSTRUCTION, COMMENT, CDATA].find(({ open }) => text.startsWith(open, less))
  if (kind === undefined) throw new XmlError('has a document type declaration (DOCTYPE), which is not allowed')
  const from = less + kind.open.length
  const to = text.indexOf(kind.close, from)
  if (to === -1) throw broken(text, less, 'it ends within a comment, CDATA section or instruction')
  return { kind, from, to }
}

/** The length of a tag, which is 0 if it is not well-formed, and its `step`: the change of depth. @throws XmlError */
function tagAt(text: string, less: number): { readonly length: number; readonly step: -1 | 0 | 1 } {
  const head = text.slice(less, less + XML_TAG_CHARS_MAX)
  const isEnd = text[less + 1] === '/'
  const [tag = ''] = (isEnd ? TAG : START_TAG).exec(head) ?? []
  if (tag === '' && text.length - less > XML_TAG_CHARS_MAX && !TAG.test(head)) {
    throw new XmlError('has a tag that is too long')
  }
  return { length: tag.length, step: isEnd ? -1 : tag.endsWith('/>') ? 0 : 1 }
}

function validate(text: string): void {
  // oxlint-disable-next-line typescript/no-deprecated -- its replacement is the same code as a package of its own
  const result = XMLValidator.validate(text)
  if (result === true) return
  const { msg, line } = result.err
  // For unclosed elements, the validator lists all open ones as JSON, the innermost last, without a line.
  const unclosed = /^Invalid '\[.*"([^"]*)"\]' found\.$/.exec(msg)?.[1]
  if (unclosed !== undefined) throw broken(text, text.length, `<${unclosed.slice(0, 80)}> is not closed`)
  throw notWellFormed(msg.replace(/\.$/, '').slice(0, MESSAGE_CHARS_MAX), line)
}

function outside(text: string, at: number): XmlError {
  return broken(text, at, 'text stands outside the root element')
}

function broken(text: string, at: number, what: string): XmlError {
  return notWellFormed(what, lineAt(text, at))
}
