import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const FOLDER = resolve('node_modules/.cache/chromium')
const UNPACK = resolve(import.meta.dirname, 'unpack-chromium.ts')

/**
 * The path of the browser. The package unpacks it to the system's temporary folder, where a process that comes second finds an
 * unfinished file. So each process unpacks to a folder of its own, and the first one to finish gives it its final name.
 */
export async function chromiumPath(): Promise<string> {
  const path = join(FOLDER, 'chromium')
  const isThere = () =>
    access(path).then(
      () => true,
      () => false
    )
  if (await isThere()) return path
  await mkdir(dirname(FOLDER), { recursive: true })
  const own = await mkdtemp(`${FOLDER}-`)
  try {
    const env = { ...process.env, TMPDIR: own }
    await promisify(execFile)(process.execPath, [UNPACK], { env })
    await rename(own, FOLDER)
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    if (!(await isThere())) throw error
  }
  return path
}
