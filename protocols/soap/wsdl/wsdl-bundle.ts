import { SoukError, isSoukError } from '../../../lib/base/errors.ts'
import { WSDL_BYTES_MAX, WSDL_FILES_MAX } from '../../../lib/base/limits/soap.ts'
import type { WsdlSource } from '../../../lib/interface/adapter.ts'
import { NS } from '../xml/names.ts'
import { bundlePath, bundleUrl, pathIn, type ReadFile } from './wsdl-bundle-path.ts'
import { openZip } from './wsdl-zip.ts'
import { readXmlDocument } from '../xml/document.ts'
import { XmlError } from '../xml/error.ts'
import { decodeXml } from '../xml/text.ts'
import { type XmlElement, attribute, elements, firstElement } from '../xml/tree.ts'

/** An uploaded WSDL with its imports. */
export interface WsdlBundle {
  /** Path of the WSDL. */
  readonly entry: string
  read(path: string): ReadFile | undefined
  /** The only file, in any folder, with the same name as the last segment of a URL; undefined if there is none, or several. */
  named(url: URL): ReadFile | undefined
}

/**
 * Opens the uploaded files or zip of a registration and finds the WSDL in it. Undefined if there is no upload.
 * @throws SoukError `invalid_request`
 */
export async function openBundle({ files, zip, entry }: WsdlSource): Promise<WsdlBundle | undefined> {
  if (files !== undefined && zip !== undefined) throw refuse('Upload the WSDL as files or as a zip, not both.')
  if (files === undefined && zip === undefined) {
    if (entry !== undefined) throw refuse('--wsdl-entry needs files or a zip (--wsdl-file).')
    return undefined
  }
  const contents = zip === undefined ? filesOf(files ?? {}) : await openZip(bytesOf(zip, 'The zip'))
  const read = (path: string) => contents.get(path)
  const named = (url: URL) => {
    const path = pathNamed([...contents.keys()], url)
    return path === undefined ? undefined : contents.get(path)
  }
  return { entry: entry === undefined ? await entryOf(contents) : chosen(contents, entry), read, named }
}

function filesOf(files: Readonly<Record<string, string>>): ReadonlyMap<string, ReadFile> {
  const contents = new Map<string, ReadFile>()
  for (const [name, content] of Object.entries(files)) {
    const path = bundlePath(name)
    if (path === undefined) throw refuse(`A file of the WSDL cannot be named ${JSON.stringify(name.slice(0, 80))}.`)
    if (contents.has(path)) throw refuse(`The WSDL has ${path} twice.`)
    const bytes = bytesOf(content, path)
    contents.set(path, async (bytesMax) => {
      if (bytes.length <= bytesMax) return bytes
      throw new SoukError('response_too_large', `${path} is larger than ${bytesMax} bytes.`)
    })
  }
  if (contents.size > WSDL_FILES_MAX) {
    throw refuse(`A WSDL can have at most ${WSDL_FILES_MAX} files, and these are ${contents.size}. Merge some of them.`)
  }
  return contents
}

function bytesOf(base64: string, what: string): Uint8Array {
  if (base64.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(base64)) throw refuse(`${what} is not base64.`)
  return Buffer.from(base64, 'base64')
}

function chosen(contents: ReadonlyMap<string, ReadFile>, entry: string): string {
  const path = bundlePath(entry)
  if (path !== undefined && contents.has(path)) return path
  throw refuse(
    `There is no ${JSON.stringify(entry.slice(0, 80))} among the files; there is ${listed([...contents.keys()])}.`
  )
}

/** The WSDL that no other file of the bundle imports. */
async function entryOf(contents: ReadonlyMap<string, ReadFile>): Promise<string> {
  const candidates = candidatesIn([...contents.keys()])
  const [only] = candidates
  if (only === undefined) throw refuse(`There is no WSDL among the files; there is ${listed([...contents.keys()])}.`)
  if (candidates.length === 1) return only
  const roots = await definitionsOf(contents, candidates)
  const imported = new Set([...roots].flatMap(([path, root]) => importsOf(path, root, [...contents.keys()])))
  const hasService = [...roots].some(([, root]) => firstElement(root, NS.wsdl, 'service') !== undefined)
  const tops = [...roots].filter(
    ([path, root]) => !imported.has(path) && (!hasService || firstElement(root, NS.wsdl, 'service') !== undefined)
  )
  const [top] = tops
  if (top !== undefined && tops.length === 1) return top[0]
  const names = listed(tops.length > 1 ? tops.map(([path]) => path) : candidates)
  throw refuse(`Several files could be the WSDL: ${names}. Select one with --wsdl-entry.`)
}

/** Candidates by file name, without the extra files of macOS zips. */
function candidatesIn(paths: readonly string[]): readonly string[] {
  const own = paths.filter((path) => !/(?:^|\/)(?:\._|__MACOSX\/)/.test(path))
  const wsdl = own.filter((path) => /\.wsdl$/i.test(path))
  return wsdl.length > 0 ? wsdl : own.filter((path) => /\.xml$/i.test(path))
}

/** The files that are WSDL 1.1. Unreadable files are reported when they are needed. */
async function definitionsOf(
  contents: ReadonlyMap<string, ReadFile>,
  paths: readonly string[]
): Promise<ReadonlyMap<string, XmlElement>> {
  const roots = new Map<string, XmlElement>()
  let bytesLeft = WSDL_BYTES_MAX
  for (const path of paths) {
    try {
      const bytes = (await contents.get(path)?.(bytesLeft)) ?? new Uint8Array()
      bytesLeft -= bytes.length
      const root = readXmlDocument(decodeXml(bytes), { undeclared: () => undefined })
      if (root.namespace === NS.wsdl && root.name === 'definitions') roots.set(path, root)
    } catch (error) {
      if (isSoukError(error) && error.code === 'response_too_large') {
        throw refuse(`The WSDLs among the files are larger than ${WSDL_BYTES_MAX} bytes. Select one with --wsdl-entry.`)
      }
      if (!(error instanceof XmlError) && !isSoukError(error)) throw error
    }
  }
  return roots
}

/** Paths of the files that a WSDL imports. */
function importsOf(path: string, root: XmlElement, paths: readonly string[]): string[] {
  return elements(root, NS.wsdl, 'import').flatMap((node) => {
    const url = URL.parse(attribute(node, 'location')?.trim() ?? '', bundleUrl(path))
    const to = url && (url.protocol === 'file:' ? pathIn(url) : pathNamed(paths, url))
    return to === null || to === undefined || to === path ? [] : [to]
  })
}

function pathNamed(paths: readonly string[], url: URL): string | undefined {
  const called = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const found = paths.filter((path) => called(path) === called(pathIn(url)))
  return found.length === 1 ? found[0] : undefined
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'nothing'
  const more = names.length > 10 ? ` and ${names.length - 10} more` : ''
  return `${names.slice(0, 10).join(', ')}${more}`
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
