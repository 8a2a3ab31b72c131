import { SoukError } from '../../../lib/base/errors.ts'
import { WSDL_BYTES_MAX, WSDL_FILES_MAX } from '../../../lib/base/limits/soap.ts'
import { NS, currentNamespace } from '../xml/names.ts'
import { shownUrl } from './wsdl-bundle-path.ts'
import { checkDefinitions, notXml, refuseRedefine, refuseWsdl2, type Source } from './wsdl-diagnosis.ts'
import { readXmlDocument, type Span } from '../xml/document.ts'
import { XmlError } from '../xml/error.ts'
import { decodeXml } from '../xml/text.ts'
import { type XmlElement, attribute, elements, qnameIn } from '../xml/tree.ts'

/** A fetched WSDL or schema. */
export interface WsdlFile {
  readonly url: string
  readonly text: string
}

export interface WsdlDocument {
  readonly url: string
  readonly root: XmlElement
  /** The positions of the schemas' definitions in the text. */
  readonly spans: ReadonlyMap<XmlElement, Span>
}

/** A WSDL with its imports; the first file is the WSDL itself. */
export interface WsdlDocuments {
  readonly files: readonly WsdlFile[]
  readonly documents: readonly WsdlDocument[]
  readonly warnings: readonly string[]
  /** The warnings that name an import which could not be read. */
  readonly missing: readonly string[]
}

/** Loads one file with its content type. @throws SoukError with the reason */
export type LoadFile = (
  url: URL,
  bytesMax: number
) => Promise<{ readonly bytes: Uint8Array; readonly type?: string | undefined }>

export interface ReadOptions {
  readonly filesMax?: number
  /** Decides whether an import may be read. Default: only from the WSDL's own origin. */
  readonly admits?: (url: URL) => boolean
}

/** Standard namespaces. They are built in or count as open content, so the service need not host their schemas. */
export const STANDARD: ReadonlySet<string> = new Set([
  NS.xml,
  NS.xsd,
  NS.encoding11,
  NS.encoding12,
  NS.envelope11,
  NS.envelope12,
  NS.wsdl,
  NS.xmime,
  NS.swaRef,
  NS.apache,
  'http://www.w3.org/2004/11/xmlmime',
  NS.xop,
  'http://www.w3.org/2005/08/addressing',
  'http://schemas.xmlsoap.org/ws/2004/08/addressing'
])

/** Attributes of WSDL and XML Schema that name a definition. */
const REFERRING: ReadonlySet<string> = new Set([
  'base',
  'binding',
  'element',
  'itemType',
  'memberTypes',
  'message',
  'ref',
  'substitutionGroup',
  'type'
])

/** A document's reference to another, of any of the four kinds. */
export interface Reference {
  /** The resolved location; undefined if it is missing or is not a URL. */
  readonly url: URL | undefined
  readonly location: string
  readonly namespace: string
  /** An include adopts the namespace of the including schema. */
  readonly kind: 'import' | 'include' | 'redefine'
  /** The referring schema; undefined for a `wsdl:import`. */
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
      namespace: currentNamespace(attribute(node, 'namespace') ?? ''),
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

function isDefinitions({ namespace, name }: XmlElement): boolean {
  return namespace === NS.wsdl && name === 'definitions'
}

function isSchema({ namespace, name }: XmlElement): boolean {
  return namespace === NS.xsd && name === 'schema'
}

/** The schemas of a document: the document itself, or those within `wsdl:types`. */
export function schemasOf(root: XmlElement): XmlElement[] {
  if (isSchema(root)) return [root]
  return elements(root, NS.wsdl, 'types').flatMap((types) => elements(types, NS.xsd, 'schema'))
}

/**
 * Reads a WSDL and its imports from admitted places, because a WSDL must not make the provider's node access other networks. An
 * unreadable import causes a warning; the WSDL itself is required.
 *
 * @throws SoukError `invalid_request` for a document that is not a WSDL, that is or imports WSDL 2.0, that redefines a schema, or
 * past `WSDL_FILES_MAX` or `WSDL_BYTES_MAX`; and the errors of `load` for the first file.
 */
export async function readWsdlFiles(
  first: URL,
  load: LoadFile,
  { filesMax = WSDL_FILES_MAX, admits = ({ origin }) => origin === first.origin }: ReadOptions = {}
): Promise<WsdlDocuments> {
  const files: WsdlFile[] = []
  const documents: WsdlDocument[] = []
  const warnings: string[] = []
  const missing: string[] = []
  const seen = new Set<string>()
  const waiting: Array<Pick<Reference, 'namespace'> & { readonly url: URL }> = [{ url: first, namespace: '' }]
  let bytesLeft = WSDL_BYTES_MAX
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { url, namespace } = next
    if (seen.has(url.href)) continue
    seen.add(url.href)
    if (seen.size > filesMax) {
      throw new SoukError('invalid_request', `The WSDL imports more than ${filesMax - 1} files. Merge some of them.`)
    }
    const isFirst = documents.length === 0
    const lacks = (problem: string) => void (STANDARD.has(namespace) ? warnings : missing).push(problem)
    const file = await attempt(url, isFirst, () => load(url, bytesLeft), lacks)
    if (file === undefined) continue
    bytesLeft -= file.bytes.length
    const parsed = parseFile(url, file, isFirst, { lacks, warn: (text) => void warnings.push(text) })
    if (parsed === undefined) continue
    const { source, document } = parsed
    files.push({ url: url.href, text: source.text })
    documents.push(document)
    for (const reference of referencesOf(document)) {
      if (reference.kind === 'redefine') refuseRedefine(source, reference.location)
      const { url: to, location, namespace: of } = reference
      if (to !== undefined && isReadable(to) && admits(to)) waiting.push({ url: to, namespace: of })
      else if (STANDARD.has(of)) continue
      else if (to !== undefined) missing.push(notRead(to, source.url, first))
      else if (location !== '') missing.push(noUrl(location, source.url))
    }
  }
  missing.push(...withoutLocation(documents))
  return { files, documents, warnings: [...new Set([...missing, ...warnings])], missing: [...new Set(missing)] }
}

/** Imports without a location whose namespace is used and defined in no document. */
function withoutLocation(documents: readonly WsdlDocument[]): string[] {
  const known = new Set(documents.flatMap(({ root }) => [root, ...schemasOf(root)]).map(namespaceOf))
  return documents.flatMap((document) => {
    const unlocated = referencesOf(document).filter(
      ({ location, namespace }) => location === '' && !known.has(namespace) && !STANDARD.has(namespace)
    )
    const used = unlocated.length === 0 ? new Set() : namespacesIn(document.root)
    return unlocated
      .filter(({ namespace }) => used.has(namespace))
      .map(
        ({ namespace }) =>
          `${namespace.slice(0, 200)}, which ${shownUrl(document.url)} imports, has no address and no definition.`
      )
  })
}

function namespaceOf(root: XmlElement): string {
  return attribute(root, 'targetNamespace') ?? ''
}

/** The namespaces that attributes such as `type` refer to. */
function namespacesIn(root: XmlElement): ReadonlySet<string> {
  const found = new Set<string>()
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const { name, value } of node.attributes) {
      if (!REFERRING.has(name)) continue
      for (const one of value.trim().split(/\s+/)) found.add(currentNamespace(qnameIn(node, one)?.namespace ?? ''))
    }
    waiting.push(...elements(node))
  }
  return found
}

/** Parses files of an earlier read again. @throws SoukError `invalid_request` */
export function parseWsdlFiles(files: readonly WsdlFile[]): WsdlDocument[] {
  return files.map(({ url, text }) => {
    const source = { url: new URL(url), text, type: undefined }
    try {
      const spans = new Map<XmlElement, Span>()
      return { url, root: readXmlDocument(text, { undeclared: () => undefined, spans, validated: true }), spans }
    } catch (error) {
      throw error instanceof XmlError ? notXml(source, error) : error
    }
  })
}

function isReadable({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:' || protocol === 'file:'
}

function noUrl(location: string, by: URL): string {
  return `"${location.slice(0, 200)}", which ${shownUrl(by)} imports, was not read: it is not a URL.`
}

function notRead(url: URL, by: URL, first: URL): string {
  const what = `${shownUrl(url)}, which ${shownUrl(by)} imports, was not read`
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${what}: its address is not http: or https:.`
  const own = first.protocol === 'file:' ? "the endpoint's origin" : `the WSDL's own origin (${first.origin})`
  return `${what}: it is not at ${own}. To allow it, register with --wsdl-origin ${url.origin}, or upload a copy with --wsdl-file.`
}

async function attempt<T>(
  url: URL,
  isFirst: boolean,
  load: () => Promise<T>,
  lacks: (problem: string) => void
): Promise<T | undefined> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof SoukError) || error.code === 'call_interrupted') throw error
    if (error.code === 'response_too_large') {
      throw new SoukError('invalid_request', `The WSDL and its imports are larger than ${WSDL_BYTES_MAX} bytes.`, {
        cause: error
      })
    }
    if (isFirst) throw error
    lacks(`${shownUrl(url)} is imported, but could not be read: ${error.message}`)
    return undefined
  }
}

/** Returns undefined for an import that is neither a WSDL nor a schema. */
function parseFile(
  url: URL,
  { bytes, type }: Awaited<ReturnType<LoadFile>>,
  isFirst: boolean,
  { lacks, warn }: Readonly<Record<'lacks' | 'warn', (text: string) => void>>
): { readonly source: Source; readonly document: WsdlDocument } | undefined {
  let text = ''
  try {
    text = decodeXml(bytes, type)
    const undeclared = (prefix: string) =>
      warn(`${shownUrl(url)} uses the prefix ${prefix.slice(0, 80)} without declaring it; names with it are ignored.`)
    const spans = new Map<XmlElement, Span>()
    const root = readXmlDocument(text, { undeclared, spans })
    const source = { url, text, type }
    refuseWsdl2(source, root)
    if (isFirst) checkDefinitions(source, root)
    else if (!isDefinitions(root) && !isSchema(root)) {
      lacks(
        `${shownUrl(url)} is imported, but is neither a WSDL nor an XML Schema: its root is <${root.name.slice(0, 80)}>.`
      )
      return undefined
    }
    return { source, document: { url: url.href, root, spans } }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    const problem = notXml({ url, text, type }, error)
    if (isFirst) throw problem
    lacks(`An import could not be used: ${problem.message}`)
    return undefined
  }
}
