import type { Option } from 'commander'
import { NETWORKS } from '../../../node/networks.ts'
import { PROFILE_FILES, type ProfileFile, profileFile } from '../../../node/profile/profile.ts'
import { flagName, SETTING_NAMES, variableName } from '../../../node/settings.ts'
import { code, NOTICE, sentence, table } from '../markdown.ts'
import { commandTree } from './cli.ts'

/** What each file of a profile is. One without a word does not compile. */
const FILES: Readonly<Record<ProfileFile, readonly [what: string, without: string]>> = {
  settings: ['Settings, and the ports the node got last.', 'The node asks for its network again.'],
  running: ['Where a running node is reached. Gone when it has stopped.', '–'],
  identity: [
    'The key that names the node (libp2p, Ed25519).',
    'It is another node: its APIs have another provider id, its channels are not its own.'
  ],
  adminToken: ['The token of the admin API.', 'A new one is made at the next start.'],
  pepper: [
    'Under which consumer keys are hashed. Nodes that share a store share it.',
    'No consumer key works any more.'
  ],
  upstreamKey: [
    'Under which credentials of your APIs are encrypted.',
    'APIs with credentials have to be registered again.'
  ],
  wallet: [
    'The wallet’s key, encrypted under your passphrase (Ethereum keystore version 3).',
    'Its money is lost, and what was earned and not claimed.'
  ],
  store: [
    'APIs, keys, channels and books (SQLite).',
    'What is not on the chain is lost: [backups](../how-to/when-something-breaks.md#backups).'
  ],
  lock: ['Held by the process that runs on the profile.', '–']
}

export function configurationPage(): string {
  const up = commandTree().commands.find((each) => each.name() === 'up')
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

A node is configured by options of \`souk up\`, by environment variables, and by the file \`profile.json\` of its profile, in this order:
an option wins over a variable, a variable over the file, the file over the default. A new profile remembers what it was started with
the first time; what is said at later starts holds for that run. To change a setting for good, edit \`profile.json\` while the node is
stopped.

## Settings

A setting of yes or no is \`true\` or \`false\` as a variable and in the file; for one whose option begins with \`--no-\`, \`false\` is what the
option says. A list is separated by spaces or commas as a variable, and is a JSON array in the file.

${table(['Option of `souk up`', 'Variable', '`profile.json`', ''], rows)}

\`adminHost\` is never read from the file: who opens the admin API to a network says so at each start. Keep the password of \`--store\` out of
the list of processes: use \`SOUK_STORE\`. Where neither \`--log\` nor \`SOUK_LOG\` is given, \`DEBUG\` says which [logs](logs.md) are on.

## Which profile

| Variable | |
|---|---|
| \`SOUK_PROFILE\` | Which profile is meant where \`--profile\` does not say. Default: \`default\`. |
| \`SOUK_HOME\` | The directory in which profiles lie. Default: \`$XDG_DATA_HOME/souk\`, else \`~/.local/share/souk\`. |

Several nodes on one machine are several profiles. A profile belongs to one network for good, and one process runs on it at a time.

## Files of a profile

In \`<home>/<profile>\`, mode 0700, each file 0600. A node refuses to start where they are open to others. How to copy them:
[back up and restore](../how-to/back-up.md).

${table(
  ['File', 'What it is', 'Without it'],
  PROFILE_FILES.map((file) => [code(fileName(file)), ...FILES[file]])
)}

## Networks

Nodes of different networks do not speak to each other.

${table(['Network', '', 'Money', 'Chain id', 'Peers to start from', 'Treasury'], networks)}

Where there is no treasury yet, nobody has founded the network: see [Base and Base Sepolia](../how-to/base-mainnet.md).
`
}

function aboutOf({ description }: Option): string {
  return sentence(description)
}

function fileName(file: ProfileFile): string {
  return profileFile({ name: '', directory: '/' }, file).slice(1)
}
