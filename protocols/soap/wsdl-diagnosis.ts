import { SoukError, isSoukError } from '../../lib/base/errors.ts'
import { NS } from './names.ts'
import { shownUrl } from './wsdl-bundle-path.ts'
import type { XmlError } from './xml-error.ts'
import type { XmlElement } from './xml-tree.ts'

/** How many warnings an error repeats. */
const REASONS = 3
/** Where a page has its title. */
const HEAD_CHARS = 4_000
/** The recommendation's namespace, and those of its drafts. */
const WSDL2 = /^http:\/\/www\.w3\.org\/(?:ns|\d{4}\/\d{2})\/wsdl$/

/** A document as it came, for saying where in it something stands. */
export interface Source {
  readonly url: URL
  readonly text: string
  /** Its content type, where it came over HTTP. */
  readonly type: string | undefined
}

/** What was answered is not XML that can be read: mostly a page for people. */
export function notXml(source: Source, error: XmlError): SoukError {
  const message = isHtml(source) ? htmlPage(source) : `${subject(source.url)} ${error.message}.`
  return new SoukError('invalid_request', message, { cause: error })
}

/** @throws SoukError `invalid_request` for WSDL 2.0, which neither a WSDL nor what it imports may be. */
export function refuseWsdl2(source: Source, { namespace, name }: XmlElement): void {
  if (name !== 'description' || !WSDL2.test(namespace)) return
  throw new SoukError(
    'invalid_request',
    `${place(source, 'description')} is WSDL 2.0 (<description> in ${namespace}), which is not supported. ` +
      'Give the WSDL 1.1 of the service: most frameworks publish both, 1.1 at ?wsdl; or convert it, and give it as a file (--wsdl-file).'
  )
}

/** @throws SoukError `invalid_request` for a schema that redefines another. */
export function refuseRedefine(source: Source, location: string): never {
  throw new SoukError(
    'invalid_request',
    `${place(source, 'redefine')} has xs:redefine of "${location.slice(0, 200)}", which is not supported. ` +
      "Write the changed types into that schema and refer to it by xs:include, or give them names of their own; then register again, with --wsdl-file if the service's own WSDL is to stay."
  )
}

/** @throws SoukError `invalid_request` for a first document that is XML, but no WSDL. */
export function checkDefinitions(source: Source, { namespace, name }: XmlElement): void {
  if (namespace === NS.wsdl && name === 'definitions') return
  if (name.toLowerCase() === 'html') throw new SoukError('invalid_request', htmlPage(source))
  if (namespace === NS.xsd && name === 'schema') {
    throw new SoukError(
      'invalid_request',
      `${subject(source.url)} is an XML Schema. Give the WSDL that imports it: the file with <wsdl:definitions>.`
    )
  }
  const where = source.url.protocol === 'file:' ? '' : ' The address of a WSDL usually ends with ?wsdl.'
  throw new SoukError(
    'invalid_request',
    `${subject(source.url)} is not a WSDL: its root is the XML element <${name.slice(0, 80)}>, not <wsdl:definitions>.${where}`
  )
}

/** What went wrong later, with what was missing before: that is often the reason. */
export function explained(error: unknown, warnings: readonly string[]): unknown {
  if (!isSoukError(error) || error.code !== 'invalid_request' || warnings.length === 0) return error
  const more = warnings.length > REASONS ? ` (and ${warnings.length - REASONS} more)` : ''
  return new SoukError('invalid_request', `${error.message} ${warnings.slice(0, REASONS).join(' ')}${more}`, {
    cause: error
  })
}

function isHtml({ text, type }: Source): boolean {
  return /^\s*(?:<!doctype html|<html)/i.test(text) || /^\s*text\/html\b/i.test(type ?? '')
}

function htmlPage({ url, text }: Source): string {
  const title = /<title[^>]*>([^<]{1,80})/i.exec(text.slice(0, HEAD_CHARS))?.[1]?.replaceAll(/\s+/g, ' ').trim() ?? ''
  const page = `${subject(url)} is an HTML page${title === '' ? '' : ` ("${title}")`}, not a WSDL.`
  if (url.protocol === 'file:') return `${page} Save the WSDL itself, not the page that shows it.`
  return `${page} The address of a WSDL usually ends with ?wsdl; a page that asks for a login wants credentials (--auth-file).`
}

function subject(url: URL): string {
  return url.protocol === 'file:' ? shownUrl(url) : `What ${shownUrl(url)} answers`
}

/** With the line of the first element of this name. Comments and CDATA are no elements. */
function place({ url, text }: Source, name: string): string {
  const blank = (hidden: string) => hidden.replaceAll(/[^\n]/g, ' ')
  const visible = text.replaceAll(/<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>/g, blank)
  const at = visible.search(new RegExp(`<(?:[^\\s<>/:]+:)?${name}[\\s/>]`))
  return at === -1 ? subject(url) : `${subject(url)}, in line ${visible.slice(0, at).split('\n').length},`
}
