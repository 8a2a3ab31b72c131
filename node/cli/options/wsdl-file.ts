import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import type { ReplicaInput } from '../../admin/api.ts'
import { UsageError } from '../terminal/usage-error.ts'

type WsdlInput = NonNullable<ReplicaInput['wsdl']>

/** Locations of imports, includes and redefinitions. Matches in comments do no harm: a missing file is ignored. */
const LOCATIONS =
  /<(?:[^\s<>/:]+:)?(?:import|include|redefine)\b[^<>]*?\b(?:schemaLocation|location)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/**
 * Reads `--wsdl-file`: an unchanged zip, or a WSDL and all files that it refers to, directly or indirectly. The files must be in the
 * folder of the WSDL or below. The node reports missing files.
 *
 * @throws UsageError if the WSDL cannot be read, or a reference points outside the folder
 */
export async function readWsdlFile(path: string): Promise<WsdlInput> {
  const bytes = await readFile(path).catch(() => {
    throw new UsageError(`${path} cannot be read.`)
  })
  // Signature of a zip (APPNOTE.TXT 4.3.7, empty zip 4.3.16). No XML starts with it.
  if (bytes.toString('latin1', 0, 2) === 'PK') return { zip: bytes.toString('base64') }
  const folder = await realpath(dirname(path))
  const entry = basename(path)
  const files = new Map<string, Buffer>([[entry, bytes]])
  for (const [name, content] of files) {
    for (const location of locationsIn(content)) {
      const other = nameOf(location, name)
      if (other === undefined || files.has(other)) continue
      const found = await readWithin(folder, other, `${name} refers to ${location}`)
      if (found !== undefined) files.set(other, found)
    }
  }
  const encoded = [...files].map(([name, content]) => [name, content.toString('base64')] as const)
  return { files: Object.fromEntries(encoded), entry }
}

function locationsIn(bytes: Buffer): string[] {
  return [...textOf(bytes).matchAll(LOCATIONS)].map(([, double, single]) =>
    (double ?? single ?? '').trim().replaceAll('&amp;', '&')
  )
}

/** Only ASCII markup matters here. It has the same bytes in all charsets of XML except UTF-16. */
function textOf(bytes: Buffer): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return bytes.toString('utf16le')
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) {
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le')
  }
  const text = bytes.toString('utf8')
  return text.includes('\ufffd') ? bytes.toString('latin1') : text
}

/**
 * Resolves a location to a path below the folder, as the node does. For an http(s) location, the result is the file name only:
 * a saved copy may be in the folder of the WSDL.
 */
function nameOf(location: string, by: string): string | undefined {
  if (/^https?:/i.test(location)) {
    const name = decoded(URL.parse(location)?.pathname ?? '')
      .split('/')
      .at(-1)
    return name === undefined || name === '' ? undefined : name
  }
  if (location === '' || /^[a-z][a-z\d+.-]+:/i.test(location)) return undefined
  const path = decoded(location.replace(/[?#].*$/, '')).replaceAll('\\', '/')
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) throw outside(location, by)
  const steps = by.split('/').slice(0, -1)
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue
    if (step !== '..') steps.push(step)
    else if (steps.pop() === undefined) throw outside(location, by)
  }
  return steps.join('/')
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Returns undefined if the file does not exist. */
async function readWithin(folder: string, name: string, what: string): Promise<Buffer | undefined> {
  const path = await realpath(join(folder, name)).catch(() => undefined)
  if (path === undefined) return undefined
  if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
    throw new UsageError(`${what}, a link to a file outside the WSDL’s folder.`, HINT)
  }
  return readFile(path).catch(() => undefined)
}

const HINT = 'a zip of all files; it may contain folders'

function outside(location: string, by: string): UsageError {
  return new UsageError(`${by} refers to ${location}, which is outside the WSDL’s folder.`, HINT)
}
