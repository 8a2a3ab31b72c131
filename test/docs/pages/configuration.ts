import type { Option } from 'commander'
import { NETWORKS } from '../../../node/networks.ts'
import { PROFILE_FILES, type ProfileFile, profileFile } from '../../../node/profile/profile.ts'
import { flagName, SETTING_NAMES, variableName } from '../../../node/settings.ts'
import { code, NOTICE, sentence, table } from '../markdown.ts'
import { commandTree } from './cli.ts'

/** Each file of a profile: its content, and what happens without it. The type requires an entry for each. */
const FILES: Readonly<Record<ProfileFile, readonly [what: string, without: string]>> = {
  settings: ['Settings, and the ports used last.', 'The node asks for its network again.'],
  running: ['The address of a running node. Deleted when it stops.', '–'],
  identity: [
    'The key of the node’s identity (libp2p, Ed25519).',
    'The node gets a new identity: its APIs get a new provider id, and it can no longer use its channels.'
  ],
  adminToken: ['The token of the admin API.', 'The next start creates a new one.'],
  pepper: [
    'The secret that hashes consumer keys. Nodes that share a store need the same secret.',
    'All consumer keys become invalid.'
  ],
  upstreamKey: ['The key that encrypts the credentials of your APIs.', 'Register APIs with credentials again.'],
  wallet: [
    'The wallet’s key, encrypted under your passphrase (Ethereum keystore version 3).',
    'The wallet’s money and unclaimed earnings are lost.'
  ],
  passphrase: [
    'The wallet’s passphrase, if `souk init` generated it.',
    'The wallet cannot be opened, unless you know the passphrase.'
  ],
  network: [
    'The network file, if the network is not built in. Its founder’s key is pinned by it.',
    'Join the network again with `souk join`.'
  ],
  store: [
    'APIs, keys, channels and books (SQLite).',
    'All data that is not on the chain is lost: see [backups](../how-to/when-something-breaks.md#backups).'
  ],
  restoring: ['Exists until `souk restore` is complete. Until then, no node starts on the profile.', '–'],
  lock: ['Locked by the process that runs on the profile.', '–']
}

export async function configurationPage(): Promise<string> {
  const up = (await commandTree()).commands.find((each) => each.name() === 'up')
  const rows = SETTING_NAMES.map((name) => {
    const option = up?.options.find(({ long }) => long === flagName(name) || long === `--no-${flagName(name).slice(2)}`)
    if (option === undefined) throw new Error(`souk up has no option for the setting ${name}.`)
    return [code(option.long ?? ''), code(variableName(name)), code(name), aboutOf(option)]
  })
  const networks = Object.values(NETWORKS).map(({ name, summary, money, chain, bootstrap }) => [
    code(name),
    summary,
    money,
    String(chain.chainId),
    bootstrap.length === 0 ? 'none yet' : String(bootstrap.length),
    chain.treasury === undefined ? 'none yet' : code(chain.treasury)
  ])
  return `${NOTICE}

# Configuration

Each setting is read from the first of these that has it: an option of \`souk up\`, an environment variable, the profile's file
\`profile.json\`, the default.
The first start stores its settings in the new profile. Settings of a later start hold for that run only. To change a setting permanently, edit
\`profile.json\` while the node is stopped.

## Settings

| | As a variable | In the file |
|---|---|---|
| yes or no | \`true\` or \`false\`; \`false\` means the same as a \`--no-\` option | the same |
| list | separated by spaces or commas | a JSON array |

${table(['Option of `souk up`', 'Variable', '`profile.json`', ''], rows)}

\`adminHost\` is never read from the file: set it at each start. Use \`SOUK_STORE\` to keep the password of \`--store\` out of the process list.
Without \`--log\` and \`SOUK_LOG\`, \`DEBUG\` selects the [logs](logs.md).

## Which profile

| Variable | |
|---|---|
| \`SOUK_PROFILE\` | The profile to use without \`--profile\`. Default: \`default\`. |
| \`SOUK_HOME\` | The directory of all profiles. Default: \`$XDG_DATA_HOME/souk\`, otherwise \`~/.local/share/souk\`. |

Each node on a machine has its own profile. A profile belongs to one network permanently; one process uses it at a time.

## HTTP proxy

With \`NODE_USE_ENV_PROXY=1\`, Node.js takes a proxy from \`HTTP_PROXY\`, \`HTTPS_PROXY\` and \`NO_PROXY\`.

| Requests | Through this proxy |
|---|---|
| to \`localhost\`, \`127.0.0.1\` and \`[::1]\`, such as commands to the node | never |
| to the chain's endpoint, and of \`souk mcp --ingress\` | except hosts in \`NO_PROXY\` |
| to APIs, token servers, webhooks, servers of network files, the router | never: the node connects to them itself |
| between nodes | never: they are not HTTP |

## Files of a profile

In \`<home>/<profile>\`, mode 0700, each file 0600. A node refuses to start if others can read them. To copy them:
[back up and restore](../how-to/back-up.md).

${table(
  ['File', 'Content', 'Without it'],
  PROFILE_FILES.map((file) => [code(fileName(file)), ...FILES[file]])
)}

## Networks

Nodes of different networks do not connect to each other.

${table(['Network', '', 'Money', 'Chain id', 'Peers to start from', 'Treasury'], networks)}

A network without a treasury has not been founded yet: see [Base and Base Sepolia](../how-to/base-mainnet.md).
`
}

function aboutOf({ description }: Option): string {
  return sentence(description)
}

function fileName(file: ProfileFile): string {
  return profileFile({ name: '', directory: '/' }, file).slice(1)
}
