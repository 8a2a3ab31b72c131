import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const FOLDER = resolve('node_modules/.cache/chromium')
const UNPACK = resolve(import.meta.dirname, 'unpack-chromium.ts')

/**
 * The path of the browser. The package unpacks it to the system's temporary folder, where a second process would find an unfinished
 * file. So each process unpacks it to a folder of its own, and the first one to finish renames its folder.
 */
export async function chromiumPath(): Promise<string> {
  const path = join(FOLDER, 'chromium')
  if (existsSync(path)) return path
  await mkdir(dirname(FOLDER), { recursive: true })
  const own = await mkdtemp(`${FOLDER}-`)
  try {
    const env = { ...process.env, TMPDIR: own }
    await promisify(execFile)(process.execPath, [UNPACK], { env })
    await rename(own, FOLDER)
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    if (!existsSync(path)) throw error
  }
  return path
}
