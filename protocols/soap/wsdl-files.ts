import { SoukError } from '../../lib/base/errors.ts'
import { WSDL_BYTES_MAX, WSDL_FILES_MAX } from '../../lib/base/limits.ts'
import { NS } from './names.ts'
import { parseXml, type Span } from './xml-parse.ts'
import { type XmlElement, attribute, elements } from './xml-tree.ts'
import { XmlError } from './xml-error.ts'

/** A WSDL or a schema as fetched. */
export interface WsdlFile {
  readonly url: string
  readonly text: string
}

export interface WsdlDocument {
  readonly url: string
  readonly root: XmlElement
  /** Where the definitions of its schemas stand in its text. */
  readonly spans: ReadonlyMap<XmlElement, Span>
}

/** A WSDL with what it imports; the first is the WSDL itself. */
export interface WsdlDocuments {
  readonly files: readonly WsdlFile[]
  readonly documents: readonly WsdlDocument[]
  readonly warnings: readonly string[]
}

/** Gets one file, or says by a SoukError why not. */
export type LoadFile = (url: URL, bytesMax: number) => Promise<{ readonly text: string; readonly bytes: number }>

/** Namespaces whose few attributes and elements are known, or taken as open content: nobody has to host these. */
const STANDARD: ReadonlySet<string> = new Set([
  NS.xml,
  NS.xsd,
  NS.encoding11,
  NS.encoding12,
  NS.envelope11,
  NS.envelope12,
  NS.wsdl,
  'http://www.w3.org/2005/05/xmlmime',
  'http://www.w3.org/2004/11/xmlmime',
  'http://www.w3.org/2004/08/xop/include',
  'http://www.w3.org/2005/08/addressing',
  'http://schemas.xmlsoap.org/ws/2004/08/addressing'
])

/** What a document refers to, by whichever of the four ways. */
export interface Reference {
  /** Resolved; undefined when there is no location, or none that is a URL. */
  readonly url: URL | undefined
  readonly location: string
  readonly namespace: string
  /** An include adopts the namespace of the including schema. */
  readonly kind: 'import' | 'include' | 'redefine'
  /** The schema that refers; undefined for a `wsdl:import`. */
  readonly schema: XmlElement | undefined
}

export function referencesOf({ url, root }: WsdlDocument): Reference[] {
  const references: Reference[] = []
  const add = (node: XmlElement, location: string | undefined, schema?: XmlElement) => {
    const kind = node.name === 'include' || node.name === 'redefine' ? node.name : 'import'
    const resolved = location === undefined ? undefined : (URL.parse(location.trim(), url) ?? undefined)
    if (resolved !== undefined) resolved.hash = ''
    references.push({
      url: resolved,
      location: location?.trim() ?? '',
      namespace: attribute(node, 'namespace') ?? '',
      kind,
      schema
    })
  }
  for (const node of elements(root, NS.wsdl, 'import')) add(node, attribute(node, 'location'))
  for (const schema of schemasOf(root)) {
    for (const node of elements(schema, NS.xsd)) {
      if (['import', 'include', 'redefine'].includes(node.name)) add(node, attribute(node, 'schemaLocation'), schema)
    }
  }
  return references
}

/** The schemas written in a document: itself, or those within `wsdl:types`. */
export function schemasOf(root: XmlElement): XmlElement[] {
  if (root.namespace === NS.xsd && root.name === 'schema') return [root]
  return elements(root, NS.wsdl, 'types').flatMap((types) => elements(types, NS.xsd, 'schema'))
}

/**
 * Reads a WSDL and, from its own origin only, everything it imports. Another origin is never asked: a WSDL must not make
 * its provider's node reach into other networks. What cannot be had is a warning; the WSDL itself must be there.
 *
 * @throws SoukError `invalid_request` for a WSDL that is none, past `WSDL_FILES_MAX` or `WSDL_BYTES_MAX`, and what `load` throws
 *   for the first file.
 */
export async function readWsdlFiles(
  endpoint: URL,
  load: LoadFile,
  { filesMax = WSDL_FILES_MAX }: { readonly filesMax?: number } = {}
): Promise<WsdlDocuments> {
  const files: WsdlFile[] = []
  const documents: WsdlDocument[] = []
  const warnings: string[] = []
  const seen = new Set<string>()
  const waiting: URL[] = [endpoint]
  let bytesLeft = WSDL_BYTES_MAX
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (seen.has(url.href)) continue
    seen.add(url.href)
    if (seen.size > filesMax) {
      throw new SoukError('invalid_request', `The WSDL imports more than ${filesMax - 1} files; put them together.`)
    }
    const file = await attempt(url, documents.length === 0, () => load(url, bytesLeft), warnings)
    if (file === undefined) continue
    bytesLeft -= file.bytes
    const document = parseFile(url, file.text, documents.length === 0, warnings)
    if (document === undefined) continue
    files.push({ url: url.href, text: file.text })
    documents.push(document)
    for (const reference of referencesOf(document)) {
      const warning = admit(reference, endpoint)
      if (warning === undefined && reference.url !== undefined) waiting.push(reference.url)
      else if (warning !== undefined && warning !== '') warnings.push(warning)
    }
  }
  return { files, documents, warnings: [...new Set(warnings)] }
}

/** Files that were read before, parsed again. @throws SoukError `invalid_request` */
export function parseWsdlFiles(files: readonly WsdlFile[]): WsdlDocument[] {
  return files.map(({ url, text }, index) => {
    const warnings: string[] = []
    const document = parseFile(new URL(url), text, index === 0, warnings)
    if (document === undefined) throw new SoukError('invalid_request', warnings[0])
    return document
  })
}

/** Nothing when the reference may be followed; else the warning, which is empty where nothing is lost. */
function admit({ url, location, namespace, kind }: Reference, endpoint: URL): string | undefined {
  if (kind === 'redefine') return `The redefinition of ${location} is not supported; its types are taken as they are.`
  if (url?.origin === endpoint.origin && (url.protocol === 'http:' || url.protocol === 'https:')) return undefined
  if (STANDARD.has(namespace) || location === '') return ''
  return `${location} is not at the WSDL's own origin (${endpoint.origin}) and was not read: host it beside the WSDL.`
}

async function attempt<T>(
  url: URL,
  first: boolean,
  load: () => Promise<T>,
  warnings: string[]
): Promise<T | undefined> {
  try {
    return await load()
  } catch (error) {
    if (first || !(error instanceof SoukError) || error.code === 'call_interrupted') throw error
    if (error.code === 'response_too_large') {
      throw new SoukError('invalid_request', `The WSDL and its imports are larger than ${WSDL_BYTES_MAX} bytes.`, {
        cause: error
      })
    }
    warnings.push(`${url.pathname}${url.search} is imported, but could not be read: ${error.message}`)
    return undefined
  }
}

function parseFile(url: URL, text: string, first: boolean, warnings: string[]): WsdlDocument | undefined {
  try {
    const where = first ? 'The WSDL' : `${url.pathname}${url.search}`
    const undeclared = (prefix: string) =>
      warnings.push(`${where} uses the prefix ${prefix.slice(0, 80)} without declaring it; what it names is left out.`)
    const spans = new Map<XmlElement, Span>()
    const root = parseXml(text, { undeclared, spans })
    if (first) checkWsdl(root)
    return { url: url.href, root, spans }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    const what = first ? 'What the endpoint answers' : `${url.pathname}${url.search} is imported, but`
    const hint =
      first && /^\s*(?:<!doctype html|<html)/i.test(text)
        ? ': it is an HTML page. Is this the address of the WSDL?'
        : '.'
    const message = `${what} ${error.message}${hint}`
    if (first) throw new SoukError('invalid_request', message, { cause: error })
    warnings.push(message)
    return undefined
  }
}

function checkWsdl({ namespace, name }: XmlElement): void {
  if (namespace === NS.wsdl && name === 'definitions') return
  if (namespace === NS.wsdl2)
    throw new SoukError('invalid_request', 'This is WSDL 2.0, which is not supported: publish WSDL 1.1.')
  const html = name.toLowerCase() === 'html' ? ' It is an HTML page.' : ''
  throw new SoukError(
    'invalid_request',
    `The endpoint does not answer with a WSDL, but with the XML element <${name}>.${html} The address usually ends with ?wsdl.`
  )
}
