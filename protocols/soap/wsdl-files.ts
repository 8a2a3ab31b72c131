import { SoukError } from '../../lib/base/errors.ts'
import { WSDL_BYTES_MAX, WSDL_FILES_MAX } from '../../lib/base/limits.ts'
import { NS, currentNamespace } from './names.ts'
import { shownUrl } from './wsdl-bundle-path.ts'
import { checkDefinitions, notXml, refuseRedefine, refuseWsdl2, type Source } from './wsdl-diagnosis.ts'
import { readXmlDocument, type Span } from './xml-document.ts'
import { XmlError } from './xml-error.ts'
import { decodeXml } from './xml-text.ts'
import { type XmlElement, attribute, elements } from './xml-tree.ts'

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

/** Gets the bytes of one file with its content type, or says by a SoukError why not. */
export type LoadFile = (
  url: URL,
  bytesMax: number
) => Promise<{ readonly bytes: Uint8Array; readonly type?: string | undefined }>

export interface ReadOptions {
  readonly filesMax?: number
  /** Whether what is imported may be read from there. Default: from the WSDL's own origin only. */
  readonly admits?: (url: URL) => boolean
}

/** Namespaces whose few attributes and elements are known, or taken as open content: nobody has to host these. */
const STANDARD: ReadonlySet<string> = new Set([
  NS.xml,
  NS.xsd,
  NS.encoding11,
  NS.encoding12,
  NS.envelope11,
  NS.envelope12,
  NS.wsdl,
  NS.xmime,
  NS.swaRef,
  'http://www.w3.org/2004/11/xmlmime',
  NS.xop,
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

/** The schemas written in a document: itself, or those within `wsdl:types`. */
export function schemasOf(root: XmlElement): XmlElement[] {
  if (root.namespace === NS.xsd && root.name === 'schema') return [root]
  return elements(root, NS.wsdl, 'types').flatMap((types) => elements(types, NS.xsd, 'schema'))
}

/**
 * Reads a WSDL and everything it imports from where that is admitted: a WSDL must not make its provider's node reach into
 * other networks. What cannot be had is a warning; the WSDL itself must be there.
 *
 * @throws SoukError `invalid_request` for a WSDL that is none, that is or imports WSDL 2.0, that redefines a schema, past
 *   `WSDL_FILES_MAX` or `WSDL_BYTES_MAX`, and what `load` throws for the first file.
 */
export async function readWsdlFiles(
  first: URL,
  load: LoadFile,
  { filesMax = WSDL_FILES_MAX, admits = ({ origin }) => origin === first.origin }: ReadOptions = {}
): Promise<WsdlDocuments> {
  const files: WsdlFile[] = []
  const documents: WsdlDocument[] = []
  const warnings: string[] = []
  const seen = new Set<string>()
  const waiting: URL[] = [first]
  let bytesLeft = WSDL_BYTES_MAX
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (seen.has(url.href)) continue
    seen.add(url.href)
    if (seen.size > filesMax) {
      throw new SoukError('invalid_request', `The WSDL imports more than ${filesMax - 1} files; put them together.`)
    }
    const isFirst = documents.length === 0
    const file = await attempt(url, isFirst, () => load(url, bytesLeft), warnings)
    if (file === undefined) continue
    bytesLeft -= file.bytes.length
    const parsed = parseFile(url, file, isFirst, warnings)
    if (parsed === undefined) continue
    const { source, document } = parsed
    files.push({ url: url.href, text: source.text })
    documents.push(document)
    for (const reference of referencesOf(document)) {
      if (reference.kind === 'redefine') refuseRedefine(source, reference.location)
      if (reference.url === undefined) {
        if (reference.location !== '') warnings.push(noUrl(reference.location, source.url))
      } else if (isReadable(reference.url) && admits(reference.url)) waiting.push(reference.url)
      else if (!STANDARD.has(reference.namespace)) warnings.push(notRead(reference.url, source.url, first))
    }
  }
  return { files, documents, warnings: [...new Set(warnings)] }
}

/** Files that were read before, parsed again. @throws SoukError `invalid_request` */
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
  return `"${location.slice(0, 200)}", which ${shownUrl(by)} imports, was not read: it is no address.`
}

function notRead(url: URL, by: URL, first: URL): string {
  const what = `${shownUrl(url)}, which ${shownUrl(by)} imports, was not read`
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${what}: it is at no http: or https: address.`
  const own = first.protocol === 'file:' ? "the endpoint's origin" : `the WSDL's own origin (${first.origin})`
  return `${what}: it is not at ${own}. To have it read, register with --wsdl-origin ${url.origin}, or with --wsdl-file and a copy of it.`
}

async function attempt<T>(
  url: URL,
  isFirst: boolean,
  load: () => Promise<T>,
  warnings: string[]
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
    warnings.push(`${shownUrl(url)} is imported, but could not be read: ${error.message}`)
    return undefined
  }
}

/** Undefined, with a warning, for an import that cannot be read. */
function parseFile(
  url: URL,
  { bytes, type }: Awaited<ReturnType<LoadFile>>,
  isFirst: boolean,
  warnings: string[]
): { readonly source: Source; readonly document: WsdlDocument } | undefined {
  let text = ''
  try {
    text = decodeXml(bytes, type)
    const undeclared = (prefix: string) =>
      warnings.push(
        `${shownUrl(url)} uses the prefix ${prefix.slice(0, 80)} without declaring it; what it names is left out.`
      )
    const spans = new Map<XmlElement, Span>()
    const root = readXmlDocument(text, { undeclared, spans })
    const source = { url, text, type }
    refuseWsdl2(source, root)
    if (isFirst) checkDefinitions(source, root)
    return { source, document: { url: url.href, root, spans } }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    const problem = notXml({ url, text, type }, error)
    if (isFirst) throw problem
    warnings.push(`An import could not be used: ${problem.message}`)
    return undefined
  }
}
