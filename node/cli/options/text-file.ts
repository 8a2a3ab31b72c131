import { readFile } from 'node:fs/promises'
import { UsageError } from '../terminal/usage-error.ts'

/** @throws UsageError if the file cannot be read */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch(() => {
    throw new UsageError(`${path} cannot be read.`)
  })
  const { decodedText } = await import('../../../lib/base/decoded-text.ts')
  return decodedText(bytes)
}
