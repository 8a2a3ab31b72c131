import { access, readdir } from 'node:fs/promises'
import type { Command } from 'commander'
import { homeDirectory, locateProfile } from '../config.ts'
import type { Cli } from './cli.ts'
import type { Failure } from './terminal/failure.ts'
import { similarTo } from './terminal/similar.ts'

/** Errors about a profile that may be mistyped. */
const OF_PROFILE = new Set(['node_not_running', 'network_missing', 'wallet_missing'])
/** Arguments that name an API, and the groups of commands for the APIs of this node. */
const API_ARGUMENTS = new Set(['name', 'api', 'name@provider'])
const OWN_GROUPS = new Set(['api', 'plan', 'mapping'])
const NAME = /^[a-z0-9-]+(?:@|$)/
/** Letters of each word that are compared by a search: typing mistakes are rarely among the first. */
const SURE_CHARS = 2
/** A page of a search. */
const PAGE = 100

/** Names that are probably meant by the one that a command did not find. Empty if none is similar, or if they cannot be read. */
export async function didYouMean(
  { code }: Failure,
  cli: Cli,
  command: Command | undefined
): Promise<readonly string[]> {
  try {
    if (OF_PROFILE.has(code)) return await similarProfiles(cli)
    const api = command === undefined ? undefined : apiIn(command)
    // A name with capital letters is refused before it is looked up.
    const isUnknown = code === 'api_not_found' || (code === 'invalid_request' && !NAME.test(api ?? ''))
    if (api === undefined || !isUnknown) return []
    return await similarApis(cli, api, OWN_GROUPS.has(command?.parent?.name() ?? ''))
  } catch {
    // The first error counts.
    return []
  }
}

/** Names of APIs like this one: of this node, and unless `isOwn`, of the listings that it knows. */
export async function similarApis(cli: Cli, typed: string, isOwn = false): Promise<readonly string[]> {
  const name = typed.split('@')[0] ?? ''
  const node = await cli.node()
  const own = (await node.request('GET /apis')).apis.map((api) => api.name)
  if (isOwn) return similarTo(name, own)
  const prefixes = name.split(/[^a-z0-9]+/i).map((word) => word.slice(0, SURE_CHARS))
  const pages = await Promise.all(
    [{ limit: `${PAGE}` }, { limit: `${PAGE}`, q: prefixes.join(' ').trim() }].map((query) =>
      node.request('GET /search', { query })
    )
  )
  return similarTo(name, [...own, ...pages.flatMap(({ listings }) => listings.map((listing) => listing.name))]).filter(
    (each) => each !== name
  )
}

async function similarProfiles({ profile: typed, terminal: { env } }: Cli): Promise<readonly string[]> {
  const { name, directory } = locateProfile(typed, env)
  const isKnown = await access(directory).then(
    () => true,
    () => false
  )
  if (isKnown) return []
  const entries = await readdir(homeDirectory(env), { withFileTypes: true })
  return similarTo(
    name,
    entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  )
}

function apiIn({ registeredArguments, args }: Command): string | undefined {
  const at = registeredArguments.findIndex((argument) => API_ARGUMENTS.has(argument.name()))
  return at < 0 ? undefined : args[at]
}
