import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../..')
const BUILD_MS = 300_000
const run = promisify(execFile)

/** A new user's machine after `git clone` and `npm ci`, with an empty home folder. */
export interface InstalledClone {
  readonly folder: string
  readonly home: string
  /** The environment of a new user's shell: the machine's Node.js and npm, without this repository. */
  readonly env: NodeJS.ProcessEnv
  /** Another clone with a separate home. It shares the packages. */
  again(): Promise<InstalledClone>
  close(): Promise<void>
}

/**
 * Copies the files that git would clone, including uncommitted changes, and builds the copy, as `npm ci` does. The packages are those of
 * this checkout, so run `npm ci` in it first.
 */
export async function installedClone(): Promise<InstalledClone> {
  const { parent, folder } = await emptyClone()
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  // A file may be deleted without a commit.
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)))
  // One command, because Node.js takes several times the CPU time to copy a tree.
  await run('cp', ['--parents', '--target-directory', folder, ...files], { cwd: ROOT })
  await linkPackages(ROOT, folder)
  const clone = await cloneIn(parent, folder)
  await run('npm', ['run', 'build'], { cwd: folder, env: clone.env, timeout: BUILD_MS })
  return clone
}

async function emptyClone(): Promise<{ readonly parent: string; readonly folder: string }> {
  const parent = await mkdtemp(join(tmpdir(), 'souk-clone-'))
  // The documentation uses this name for the repository's folder.
  const folder = join(parent, 'souk')
  await mkdir(folder)
  return { parent, folder }
}

/** Makes hard links, because copying takes too long. A new installation has no caches. */
async function linkPackages(from: string, to: string): Promise<void> {
  const packages = (await readdir(join(from, 'node_modules'))).filter((name) => name !== '.cache')
  await mkdir(join(to, 'node_modules'))
  const target = ['--target-directory', join(to, 'node_modules')]
  await run('cp', ['--archive', '--link', ...target, ...packages], { cwd: join(from, 'node_modules') })
}

async function cloneIn(parent: string, folder: string): Promise<InstalledClone> {
  const home = join(parent, 'home')
  await mkdir(home)
  return {
    folder,
    home,
    env: await newcomerEnvironment(home),
    async again() {
      const other = await emptyClone()
      const own = (await readdir(folder)).filter((name) => name !== 'node_modules')
      await run('cp', ['--archive', '--target-directory', other.folder, ...own], { cwd: folder })
      await linkPackages(folder, other.folder)
      return cloneIn(other.parent, other.folder)
    },
    async close() {
      await run('rm', ['--recursive', '--force', parent])
    }
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
    // A download that stalls is repeated in time. npm waits for five minutes.
    npm_config_fetch_timeout: '60000',
    // The machine's cache avoids downloads, and its settings name the registry.
    npm_config_cache: await setting('cache'),
    npm_config_userconfig: await setting('userconfig'),
    npm_config_prefer_offline: 'true'
  }
}
