import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { type Network, NETWORKS } from './networks.ts'
import type { NodeConfig } from './node-config.ts'
import { readPrivateFile } from './profile/private-file.ts'
import { forProfile } from './profile/for-profile.ts'
import {
  checkRestored,
  commandFor,
  DEFAULT_PROFILE,
  profileFile,
  type ProfileLocation,
  readProfileJson
} from './profile/profile.ts'
import { SetupError } from './setup-error.ts'
import type { Environment, Settings } from './settings.ts'

export { commandFor, DEFAULT_PROFILE, type Environment, forProfile }

/** The name becomes a directory name. */
const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/i

/** Version of this package. Read at run time: importing the JSON file would copy it into `dist` as a second package. */
export function packageVersion(): string {
  const { version } = createRequire(import.meta.url)('souk/package.json') as { version: string }
  return version
}

/** The only code that reads the process environment. */
export function processEnvironment(): Environment {
  return process.env
}

/** As `fetch` compares them: an IPv6 address has its brackets. */
const LOOPBACK = 'localhost,127.0.0.1,[::1]'

/**
 * Keeps requests on this machine out of the proxy that Node.js takes from the environment (`NODE_USE_ENV_PROXY`), which would get
 * the admin token. `fetch` reads these variables for each request.
 */
export function exemptLoopback(): void {
  // Node.js ignores NO_PROXY if no_proxy is set.
  const name = process.env['no_proxy'] === undefined ? 'NO_PROXY' : 'no_proxy'
  const given = process.env[name] ?? ''
  if (given !== '*') process.env[name] = given === '' ? LOOPBACK : `${given},${LOOPBACK}`
}

/**
 * Locates the directory of a profile: under `SOUK_HOME`, else under `souk` in the XDG data home.
 * @throws SetupError `config_invalid` if the name is invalid, or there is no home directory.
 *
 * @example
 * ```ts
 * import { locateProfile } from 'souk/node'
 *
 * console.log(locateProfile('shop', { SOUK_HOME: '/srv/souk' }).directory) // /srv/souk/shop
 * ```
 */
export function locateProfile(name: string | undefined, env: Environment): ProfileLocation {
  const chosen = name ?? given(env['SOUK_PROFILE']) ?? DEFAULT_PROFILE
  if (!PROFILE_NAME.test(chosen)) {
    const rule = 'use at most 63 letters, digits, "-" and "_", with a letter or digit first'
    throw new SetupError('config_invalid', `"${chosen}" is not a profile name: ${rule}.`)
  }
  return { name: chosen, directory: join(homeDirectory(env), chosen) }
}

/** The parent directory of all profiles of this user: `SOUK_HOME`, else `souk` in the XDG data home. */
export function homeDirectory(env: Environment): string {
  const home = given(env['SOUK_HOME'])
  if (home !== undefined) return resolve(home)
  const data = given(env['XDG_DATA_HOME'])
  // XDG Base Directory Specification: "All paths set in these environment variables must be absolute", else ignored.
  const base = data !== undefined && isAbsolute(data) ? data : join(userHome(), '.local', 'share')
  return join(base, 'souk')
}

/**
 * The user's home directory: `HOME`, else from the user database. A relative `HOME` would give each working directory its own profile.
 * @throws SetupError `config_invalid` if the user has none, as with `docker run --user 12345`
 */
function userHome(): string {
  const hint = 'SOUK_HOME=<a directory of your own> souk …'
  let home: string
  try {
    home = homedir()
  } catch (error) {
    throw new SetupError('config_invalid', 'This user has no home directory.', { cause: error, hint })
  }
  if (isAbsolute(home)) return home
  throw new SetupError('config_invalid', `The variable HOME is "${home}": give an absolute path.`, { hint })
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

export interface LoadOptions {
  /** As typed, under the names of `Settings`. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly profile?: string | undefined
  readonly env: Environment
  /** The network of an invitation. It replaces the network in `flags`. */
  readonly joining?: Network
  /** Asks for the network of a new profile. Without it, a missing network is an error. */
  readonly askNetwork?: (choices: readonly Network[]) => Promise<string>
}

/**
 * Loads the configuration of a node. Precedence: flags, then environment, then `profile.json`, then defaults.
 * @throws SetupError `config_invalid`, `network_invalid`, `network_missing`, `permissions_too_open`, `profile_broken`
 */
export async function loadConfig(options: LoadOptions): Promise<NodeConfig> {
  // Load lazily: talking to a running node needs no validation.
  const [{ readEnvironment, readFlags, readSaved }, { compose }] = await Promise.all([
    import('./settings.ts'),
    import('./node-config.ts')
  ])
  const profile = locateProfile(options.profile, options.env)
  await checkRestored(profile)
  const saved = readSaved(await readProfileJson(profile, 'settings'))
  const typed = { ...readEnvironment(options.env), ...readFlags(options.flags) }
  const asked = { ...urlOf(typed.network), ...typed }
  const network = await chooseNetwork(options, profile, asked, saved)
  const config = await withPassphrase(compose(profile, network, asked, saved))
  const log = config.log ?? given(options.env['DEBUG'])
  return log === undefined ? config : { ...config, log }
}

/** The members of a profile’s `profile.json`, and the names that settings have there and in the environment. */
export async function settingNames(
  profile: ProfileLocation
): Promise<Record<'saved' | 'names' | 'variables', string[]>> {
  const { SETTING_NAMES, variableName } = await import('./settings.ts')
  const saved = Object.keys((await readProfileJson(profile, 'settings')) ?? {})
  return { saved, names: SETTING_NAMES, variables: SETTING_NAMES.map(variableName) }
}

/** Names the passphrase that `souk init` generated, if the operator names none. */
async function withPassphrase(config: NodeConfig): Promise<NodeConfig> {
  const { profile, payments } = config
  const file = profileFile(profile, 'passphrase')
  if (payments.passphraseFile !== undefined || (await readPrivateFile(file)) === undefined) return config
  return { ...config, payments: { ...payments, passphraseFile: file } }
}

/** A network file on the web is fetched again at each start. */
function urlOf(network: string | undefined): Settings {
  return network !== undefined && /^https?:/i.test(network) ? { networkUrl: network } : {}
}

async function chooseNetwork(
  { env, joining, askNetwork: ask }: LoadOptions,
  profile: ProfileLocation,
  asked: Settings,
  saved: Settings
): Promise<Network> {
  const home = homeDirectory(env)
  const { chosenNetwork, networkOfProfile, updatedNetwork } = await import('./network/resolve-network.ts')
  if (saved.network !== undefined) {
    const network = await networkOfProfile(saved.network, profile, home)
    if (joining?.name === network.name) return updatedNetwork(joining, network)
    if (joining !== undefined) throw belongsTo(profile, saved.network)
    if (asked.network === undefined || asked.network === saved.network) return network
    // A file that was fetched before is fetched again by the start itself, which goes on without it.
    if (asked.network === saved.networkUrl) return network
    const newer = await chosenNetwork(asked.network, home)
    if (newer.name === network.name) return updatedNetwork(newer, network)
    throw belongsTo(profile, saved.network)
  }
  if (joining !== undefined) return joining
  if (asked.network !== undefined) return chosenNetwork(asked.network, home)
  if (ask === undefined) {
    throw new SetupError('network_missing', `The profile "${profile.name}" is new, and it needs a network.`, {
      hint: 'souk init; or souk up --network dev (or base-sepolia, base, demo, or a network file)'
    })
  }
  return chosenNetwork(await ask(await choices(home)), home)
}

function belongsTo({ name }: ProfileLocation, network: string): SetupError {
  return new SetupError('config_invalid', `The profile "${name}" belongs to the network ${network}.`, {
    hint: 'the same with --profile <another name>'
  })
}

/** The networks to choose from, the usual one first. */
async function choices(home: string): Promise<Network[]> {
  const { chosenNetwork, runsHere } = await import('./network/resolve-network.ts')
  const demo = await chosenNetwork('demo', home).catch(() => undefined)
  const others = Object.values(NETWORKS)
  if (demo === undefined) return others
  return (await runsHere(demo)) ? [demo, ...others] : [...others, demo]
}
