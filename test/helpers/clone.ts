import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../..')
const INSTALL_MS = 300_000
const run = promisify(execFile)

/** A new user's machine after `git clone` and `npm ci`, with an empty home folder. */
export interface InstalledClone {
  readonly folder: string
  readonly home: string
  /** The environment of a new user's shell: the machine's Node.js and npm, without this repository. */
  readonly env: NodeJS.ProcessEnv
  /** Another clone with a separate home. It shares the files of the installation. */
  again(): Promise<InstalledClone>
  close(): Promise<void>
}

/** Copies the files that git would clone, including uncommitted changes, and runs `npm ci` in the copy. */
export async function installedClone(): Promise<InstalledClone> {
  const parent = await mkdtemp(join(tmpdir(), 'souk-clone-'))
  // The documentation uses this name for the repository's folder.
  const folder = join(parent, 'souk')
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    await mkdir(join(folder, dirname(file)), { recursive: true })
    // The file may be deleted without a commit.
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
      // The installed files are linked, because copying takes too long. Files that the documentation changes are copied.
      await cp(folder, copy, { recursive: true, filter: (path) => path !== join(folder, 'node_modules') })
      await run('cp', ['-al', join(folder, 'node_modules'), copy])
      return cloneIn(other, copy)
    },
    close: () => rm(parent, { recursive: true, force: true })
  }
}

async function newcomerEnvironment(home: string): Promise<NodeJS.ProcessEnv> {
  const { PATH = '', LANG, HOME, HTTPS_PROXY, NODE_EXTRA_CA_CERTS } = process.env
  // `npm test` prepends the commands of this repository.
  const path = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const own = { PATH: path.join(delimiter), LANG, HTTPS_PROXY, NODE_EXTRA_CA_CERTS }
  const setting = async (name: string) => {
    const { stdout } = await run('npm', ['config', 'get', name], { cwd: home, env: { ...own, HOME } })
    return stdout.trim()
  }
  return {
    ...own,
    HOME: home,
    // The machine's cache avoids downloads, and its settings name the registry.
    npm_config_cache: await setting('cache'),
    npm_config_userconfig: await setting('userconfig'),
    npm_config_prefer_offline: 'true'
  }
}
