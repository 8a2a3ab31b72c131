import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import type { ReplicaInput } from '../../admin/api.ts'
import { UsageError } from '../terminal/usage-error.ts'

type WsdlInput = NonNullable<ReplicaInput['wsdl']>

/** What imports, includes and redefinitions say of where they are; read from comments, too, which costs a look at most. */
const LOCATIONS =
  /<(?:[^\s<>/:]+:)?(?:import|include|redefine)\b[^<>]*?\b(?:schemaLocation|location)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/**
 * What `--wsdl-file` names: a zip as it is, or a WSDL with the files that it refers to, those that these refer to and so on, as far as
 * they are in its folder or below. What is not there is left to the node to miss.
 *
 * @throws UsageError for a file that cannot be read, and for a reference that leads out of the folder
 */
export async function readWsdlFile(path: string): Promise<WsdlInput> {
  const bytes = await readFile(path).catch(() => {
    throw new UsageError(`${path} cannot be read.`)
  })
  // APPNOTE.TXT 4.3.7 and, of an empty one, 4.3.16: no XML starts so.
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

/** Only markup counts here, which is the same in every charset that XML is written in, but for UTF-16. */
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
 * The path below the folder that a location means, as the node resolves it. What stands at a server is looked for by its name beside
 * the WSDL: so it is once somebody has saved it.
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

/** Undefined where there is no such file. */
async function readWithin(folder: string, name: string, what: string): Promise<Buffer | undefined> {
  const path = await realpath(join(folder, name)).catch(() => undefined)
  if (path === undefined) return undefined
  if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
    throw new UsageError(`${what}, which is a link out of the WSDL’s folder.`, HINT)
  }
  return readFile(path).catch(() => undefined)
}

const HINT = 'a zip of all the files, which may have folders'

function outside(location: string, by: string): UsageError {
  return new UsageError(`${by} refers to ${location}, which is outside the WSDL’s folder.`, HINT)
}
