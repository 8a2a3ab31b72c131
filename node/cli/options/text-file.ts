import { readFile } from 'node:fs/promises'
import { UsageError } from '../terminal/usage-error.ts'

/** @throws UsageError if the file cannot be read */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch(() => {
    throw new UsageError(`${path} cannot be read.`)
  })
  return decoded(bytes)
}

/** The text of a file in UTF-8 or, with a byte order mark, in UTF-16, as Windows PowerShell writes it. The mark is left out. */
export function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  return new TextDecoder().decode(bytes)
}
