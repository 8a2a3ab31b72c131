import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Origin } from './loopback.ts'

/** A published program for comparison that needs other versions of packages than Souk has. */
export interface InstalledPeer {
  readonly title: string
  /** Plays it: gets `PeerArgs`. */
  readonly role: URL
  /** The folder that has its packages, in the cache of this checkout. */
  readonly folder: string
  readonly packages: readonly string[]
}

export interface PeerArgs extends Origin {
  /** Has a `node_modules` with its packages. */
  readonly directory: string
}

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'souk-bench')
const INSTALL_MS = 300_000
const OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

/**
 * Installs a peer, once per checkout.
 * @returns its folder; or undefined where npm cannot install it, which one line says
 */
export async function install(
  { title, folder, packages }: InstalledPeer,
  say: (line: string) => void
): Promise<string | undefined> {
  const directory = join(CACHE, folder)
  if (existsSync(directory)) return directory
  // Renamed when it is complete, so that an interrupted install is not used.
  const unfinished = `${directory}.${process.pid}`
  say(`installing ${packages.join(' ')}`)
  try {
    await mkdir(unfinished, { recursive: true })
    const options = { cwd: unfinished, timeout: INSTALL_MS }
    await promisify(execFile)('npm', ['install', '--prefix', unfinished, ...OPTIONS, ...packages], options)
    await rename(unfinished, directory)
    return directory
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    const { stderr = String(error) } = error as { readonly stderr?: string }
    const [reason = ''] = stderr.split('\n')
    say(`without ${title}, because npm cannot install it: ${reason}`)
    return undefined
  }
}
