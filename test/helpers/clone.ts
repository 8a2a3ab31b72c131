import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../..')
const INSTALL_MS = 300_000
const run = promisify(execFile)

/** What a newcomer has after `git clone` and `npm ci`, in a home folder of their own with nothing in it. */
export interface InstalledClone {
  readonly folder: string
  readonly home: string
  /** The environment of a newcomer's shell: the machine's own Node.js and npm, and nothing of this repository. */
  readonly env: NodeJS.ProcessEnv
  /** Another clone with a home of its own. It shares the files of the one install. */
  again(): Promise<InstalledClone>
  close(): Promise<void>
}

/** Copies what git would clone, with changes that are not committed yet, and types `npm ci` in it. */
export async function installedClone(): Promise<InstalledClone> {
  const parent = await mkdtemp(join(tmpdir(), 'souk-clone-'))
  // The pages call the folder of the repository by this name.
  const folder = join(parent, 'souk')
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(join(folder, dirname(file)), { recursive: true })
    // A file may be deleted, and that not committed yet.
    if (existsSync(join(ROOT, file))) await cp(join(ROOT, file), join(folder, file))
  }
  const clone = await cloneIn(parent, folder)
  await run('npm', ['ci'], { cwd: folder, env: clone.env, timeout: INSTALL_MS })
  return clone
}

async function cloneIn(parent: string, folder: string): Promise<InstalledClone> {
  const home = join(parent, 'home')
  await mkdir(home)
  return {
    folder,
    home,
    env: await newcomerEnvironment(home),
    async again() {
      const other = await mkdtemp(join(tmpdir(), 'souk-clone-'))
      const copy = join(other, 'souk')
      // What is installed is the same for all, and too much to copy. What a page has its reader change is not.
      await cp(folder, copy, { recursive: true, filter: (path) => path !== join(folder, 'node_modules') })
      await run('cp', ['-al', join(folder, 'node_modules'), copy])
      return cloneIn(other, copy)
    },
    close: () => rm(parent, { recursive: true, force: true })
  }
}

async function newcomerEnvironment(home: string): Promise<NodeJS.ProcessEnv> {
  const { PATH = '', LANG, HOME, HTTPS_PROXY, NODE_EXTRA_CA_CERTS } = process.env
  // `npm test` puts the commands of this repository in front.
  const path = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const own = { PATH: path.join(delimiter), LANG, HTTPS_PROXY, NODE_EXTRA_CA_CERTS }
  const setting = async (name: string) => {
    const { stdout } = await run('npm', ['config', 'get', name], { cwd: home, env: { ...own, HOME } })
    return stdout.trim()
  }
  return {
    ...own,
    HOME: home,
    // The machine's cache spares a download, and its settings say where packages come from.
    npm_config_cache: await setting('cache'),
    npm_config_userconfig: await setting('userconfig'),
    npm_config_prefer_offline: 'true'
  }
}
