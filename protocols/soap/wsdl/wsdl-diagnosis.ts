import { SoukError, isSoukError } from '../../../lib/base/errors.ts'
import { NS } from '../xml/names.ts'
import { shownUrl } from './wsdl-bundle-path.ts'
import type { XmlError } from '../xml/error.ts'
import type { XmlElement } from '../xml/tree.ts'

/** How many warnings an error repeats. */
const REASONS = 3
/** The part of a page that has its title. */
const HEAD_CHARS = 4_000
/** The namespaces of WSDL 2.0 and of its drafts. */
const WSDL2 = /^http:\/\/www\.w3\.org\/(?:ns|\d{4}\/\d{2})\/wsdl$/

/** A received document, for locating problems in it. */
export interface Source {
  readonly url: URL
  readonly text: string
  /** The content type, if the document came over HTTP. */
  readonly type: string | undefined
}

/** The error for a document that is not readable XML, usually a web page. */
export function notXml(source: Source, error: XmlError): SoukError {
  const message = isHtml(source) ? htmlPage(source) : `${subject(source.url)} ${error.message}.`
  return new SoukError('invalid_request', message, { cause: error })
}

/** @throws SoukError `invalid_request` for WSDL 2.0, which is not supported, not even as an import. */
export function refuseWsdl2(source: Source, { namespace, name }: XmlElement): void {
  if (name !== 'description' || !WSDL2.test(namespace)) return
  throw new SoukError(
    'invalid_request',
    `${place(source, 'description')} is WSDL 2.0 (<description> in ${namespace}), which is not supported. ` +
      'Use the WSDL 1.1 of the service, which most frameworks publish at ?wsdl. Or convert it and upload it (--wsdl-file).'
  )
}

/** @throws SoukError `invalid_request` for a schema that redefines another. */
export function refuseRedefine(source: Source, location: string): never {
  throw new SoukError(
    'invalid_request',
    `${place(source, 'redefine')} has xs:redefine of "${location.slice(0, 200)}", which is not supported. ` +
      'Move the changed types into that schema and use xs:include, or rename them. Then register again; --wsdl-file uploads a changed WSDL.'
  )
}

/** @throws SoukError `invalid_request` for a first document that is XML but not a WSDL. */
export function checkDefinitions(source: Source, { namespace, name }: XmlElement): void {
  if (namespace === NS.wsdl && name === 'definitions') return
  if (name.toLowerCase() === 'html') throw new SoukError('invalid_request', htmlPage(source))
  if (namespace === NS.xsd && name === 'schema') {
    throw new SoukError(
      'invalid_request',
      `${subject(source.url)} is an XML Schema. Use the WSDL that imports it, the file with <wsdl:definitions>.`
    )
  }
  const where = source.url.protocol === 'file:' ? '' : ' The address of a WSDL usually ends with ?wsdl.'
  throw new SoukError(
    'invalid_request',
    `${subject(source.url)} is not a WSDL: its root is the XML element <${name.slice(0, 80)}>, not <wsdl:definitions>.${where}`
  )
}

/** Adds earlier warnings to a later error, because missing parts are often its cause. */
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
  return `${page} The address of a WSDL usually ends with ?wsdl; a login page requires credentials (--auth-file).`
}

function subject(url: URL): string {
  return url.protocol === 'file:' ? shownUrl(url) : `The response of ${shownUrl(url)}`
}

/** Adds the line of the first element with this name, ignoring comments and CDATA. */
function place({ url, text }: Source, name: string): string {
  const blank = (hidden: string) => hidden.replaceAll(/[^\n]/g, ' ')
  const visible = text.replaceAll(/<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>/g, blank)
  const at = visible.search(new RegExp(`<(?:[^\\s<>/:]+:)?${name}[\\s/>]`))
  return at === -1 ? subject(url) : `${subject(url)}, in line ${visible.slice(0, at).split('\n').length},`
}
