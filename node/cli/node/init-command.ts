import { type Command, Option } from 'commander'
import { commandFor, DEFAULT_PROFILE, loadConfig, locateProfile } from '../../config.ts'
import { protocolDescriptors, PROTOCOLS_TEXT, type ProtocolName } from '../../../protocols/protocol-descriptors.ts'
import { askNetwork } from '../options/ask-network.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { nextSteps, type Plan, PLAY_USDC, stepLines } from './init-steps.ts'
import { checkName } from '../options/check-typed.ts'
import { decimal } from '../options/number-option.ts'
import { protocolOption } from '../options/protocol-option.ts'
import { UsageError } from '../terminal/usage-error.ts'

type NodeConfig = Awaited<ReturnType<typeof loadConfig>>

const ROLES = ['sell', 'buy', 'both'] as const
const WALLETS = ['create', 'import', 'none'] as const

export interface InitFlags {
  readonly network?: string
  readonly role?: Plan['role']
  readonly wallet?: (typeof WALLETS)[number]
  readonly walletFile?: string
  readonly passphraseFile?: string
  readonly oldPassphraseFile?: string
  readonly payout?: string
  readonly apiEndpoint?: string
  readonly apiName?: string
  readonly apiProtocol?: ProtocolName
  readonly apiPrice?: string
}

export const addInit: AddCommand = (to, cli) => {
  const command = to
    .command('init')
    .description('set up a new profile with a wallet; asks for what is not given; --no-input uses the defaults')
    .option(
      '--network <network>',
      'demo, dev, base-sepolia, base, or a network file (path or https URL); cannot be changed later'
    )
  addSetupOptions(command).action((flags: InitFlags) => init(cli, flags))
}

export function addSetupOptions(command: Command): Command {
  return command
    .addOption(new Option('--role <role>', 'what the node is for').choices(ROLES))
    .addOption(new Option('--wallet <wallet>', 'wallet to pay and be paid with (default: create)').choices(WALLETS))
    .option('--wallet-file <file>', 'key file to import')
    .option(
      '--passphrase-file <file>',
      'file with the passphrase of the wallet (default: asks for it; on play networks, generates one)'
    )
    .option('--old-passphrase-file <file>', 'file with the current passphrase of the key file (default: asks for it)')
    .option('--payout <address>', 'address that receives your earnings (default: the wallet)')
    .option('--api-endpoint <url>', 'URL of the first API to sell')
    .option('--api-name <name>', 'name of the first API')
    .option('--api-protocol <protocol>', PROTOCOLS_TEXT, protocolOption)
    .option('--api-price <number>', 'price per call; 0 is free', decimal)
}

/** The network of an invitation. */
interface Joining {
  readonly network: NodeConfig['network']
  readonly url?: string
  readonly peers: readonly string[]
}

/** Asks four questions at most. Creates nothing before the last one is answered. */
export async function init(cli: Cli, flags: InitFlags, joining?: Joining): Promise<void> {
  const { env } = cli.terminal
  if (flags.apiName !== undefined) await checkName(flags.apiName)
  const profile = locateProfile(await nameOf(cli), env)
  const { checkNeverStarted, rememberSetup } = await import('../../profile/saved-settings.ts')
  await checkNeverStarted(profile)
  const wishes = { networkUrl: joining?.url, bootstrap: joining?.peers }
  // Includes the payout, so that an invalid address fails before any file is written.
  const first = { ...wishes, network: flags.network, payout: flags.payout }
  const config = await configOf(cli, profile.name, first, joining?.network)
  const role = flags.role ?? (await choose(cli, 'Sell APIs, buy calls of others, or both', ROLES, 'both'))
  const card = await walletOf(cli, flags, config)
  const isSelling = role !== 'buy'
  const payout = isSelling ? (flags.payout ?? card?.address) : undefined
  const { passphraseFile } = flags
  const ingress = role === 'sell' ? false : undefined
  const rest = { ...wishes, networkUrl: config.networkUrl, payout, passphraseFile, ingress }
  const settings = await configOf(cli, profile.name, rest, config.network)
  await rememberSetup(settings)

  const isFunded = card !== undefined && card.isKept !== true && config.network.isPlay && (await fund(cli, settings))
  const plan: Plan = {
    profile: profile.name,
    network: config.network.name,
    role,
    wallet: card?.address ?? null,
    payout: payout ?? null,
    api: isSelling ? apiOf(flags) : null
  }
  const steps = nextSteps(plan, {
    isDefault: locateProfile(undefined, env).name === profile.name,
    isPlay: config.network.isPlay,
    isFunded
  })
  const { note } = cli.terminal
  note(`The profile "${profile.name}" is set up in ${profile.directory}.`)
  if (card?.isKept === true) note(`It keeps its wallet, ${card.address}.`)
  if (isFunded) note(`Its wallet has ${PLAY_USDC} ${config.network.money}, and play ETH for gas.`)
  if (payout !== undefined && payout === card?.address && !config.network.isPlay)
    note(
      `Earnings go to the wallet of this node. To keep them elsewhere, run: ${commandFor(profile.name, 'payout set <address>')}`
    )
  await cli.print({ ...plan, next: steps.map(({ command }) => command) }, () => stepLines(steps))
}

/** Asks for the name of the profile, if none is given. */
async function nameOf(cli: Cli): Promise<string | undefined> {
  const { env } = cli.terminal
  const given = locateProfile(cli.profile, env).name
  if (cli.profile !== undefined || given !== DEFAULT_PROFILE) return given
  return ask(cli, `Name of the profile [${DEFAULT_PROFILE}]: `, DEFAULT_PROFILE, (typed) => {
    try {
      return { value: locateProfile(typed === '' ? DEFAULT_PROFILE : typed, env).name }
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  })
}

/** Omits undefined members: loadConfig asks for them or uses defaults. */
function configOf(
  cli: Cli,
  profile: string,
  flags: Readonly<Record<string, unknown>>,
  joining: NodeConfig['network'] | undefined
): Promise<NodeConfig> {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  return loadConfig({
    flags: Object.fromEntries(given),
    profile,
    env: cli.terminal.env,
    ...(joining === undefined ? {} : { joining }),
    askNetwork: (choices) => (cli.canAsk ? askNetwork(cli, choices) : usualNetwork(cli, choices))
  })
}

/** The network of a run without a terminal: the demo while it runs on this machine, else `dev`. */
async function usualNetwork(cli: Cli, choices: readonly NodeConfig['network'][]): Promise<string> {
  const name = choices[0]?.name ?? 'dev'
  const why = name === 'demo' ? 'the demo runs on this machine' : 'no demo runs on this machine'
  cli.terminal.note(`Network: ${name}, because none is given and ${why}. To choose another: --network <network>`)
  return name
}

async function walletOf(
  cli: Cli,
  flags: InitFlags,
  config: NodeConfig
): Promise<{ readonly address: string; readonly isKept?: boolean } | undefined> {
  const wanted = flags.wallet ?? (flags.walletFile === undefined ? 'create' : 'import')
  if (wanted === 'none') return undefined
  const { keptWallet, makeWallet, takeOverWallet } = await import('../../wallet/wallet-service.ts')
  const kept = wanted === 'create' ? await keptWallet(config) : undefined
  if (kept !== undefined) return { address: kept, isKept: true }
  const file = wanted === 'import' ? await keyFileOf(cli, flags) : undefined
  const source = await passphraseOf(cli, flags, config)
  if (file === undefined) return cli.during('Creating the wallet', makeWallet(config, source))
  return cli.during('Importing the wallet', takeOverWallet(config, file, source, secret(cli, flags.oldPassphraseFile)))
}

async function keyFileOf(cli: Cli, { walletFile }: InitFlags): Promise<string> {
  const file = walletFile ?? (cli.canAsk ? await cli.terminal.ask('Key file to import: ') : '')
  if (file !== '') return file
  throw new UsageError('The key file to import is missing.', 'souk init --wallet import --wallet-file <file>')
}

/** The passphrase of the new wallet: from a file, typed, or generated into the profile. */
async function passphraseOf(cli: Cli, { passphraseFile }: InitFlags, config: NodeConfig) {
  const { generatePassphrase } = await import('../../wallet/wallet-service.ts')
  const { profile, network } = config
  if (passphraseFile !== undefined) return secret(cli, passphraseFile)
  if (!cli.canAsk && !network.isPlay) {
    throw new UsageError(
      `A wallet for ${network.money} needs a passphrase of yours.`,
      'souk init --passphrase-file <file>, a file that only you can read'
    )
  }
  const usual = network.isPlay ? 'file' : 'ask'
  const about =
    'Passphrase of the wallet: file (generated, the node starts alone), ask (you type it at each start), or a path'
  const typed = await ask(cli, `${about} [${usual}]: `, usual, (word) => ({ value: word === '' ? usual : word }))
  if (typed === 'ask') return secret(cli, undefined)
  return typed === 'file' ? generatePassphrase(profile) : secret(cli, typed)
}

function secret(cli: Cli, file: string | undefined) {
  const ask = cli.canAsk ? { ask: (question: string) => cli.terminal.askSecret(question) } : {}
  return file === undefined ? ask : { ...ask, file }
}

/** @returns false if the chain does not respond */
async function fund(cli: Cli, config: NodeConfig): Promise<boolean> {
  const { playMoney } = await import('../../wallet/wallet-service.ts')
  const given = playMoney(config, PLAY_USDC).then(
    () => true,
    () => false
  )
  return cli.during(`Getting ${config.network.money}`, given)
}

/** The API for the suggested `souk api register`. The node reads its endpoint at registration, not now. */
function apiOf({ apiEndpoint, apiName, apiProtocol, apiPrice }: InitFlags): Plan['api'] {
  if (apiEndpoint === undefined) return null
  return {
    endpoint: apiEndpoint,
    name: apiName ?? 'my-api',
    protocol: apiProtocol ?? protocolDescriptors[0].name,
    price: apiPrice ?? '0'
  }
}

type Checked<T> = { readonly value: T } | string

/** Enter, and a run without a terminal, select `usual`. */
async function choose<T extends string>(cli: Cli, question: string, choices: readonly T[], usual: T): Promise<T> {
  return ask<T>(cli, `${question} (${choices.join(', ')}) [${usual}]: `, usual, (typed) => {
    const found = typed === '' ? usual : choices.find((choice) => choice.toLowerCase() === typed.toLowerCase())
    return found === undefined ? `Choose one of ${choices.join(', ')}.` : { value: found }
  })
}

/** Asks until the input is valid. */
async function ask<T>(cli: Cli, question: string, usual: T, check: (typed: string) => Checked<T>): Promise<T> {
  if (!cli.canAsk) return usual
  for (;;) {
    const checked = check((await cli.terminal.ask(question)).trim())
    if (typeof checked !== 'string') return checked.value
    cli.terminal.note(checked)
  }
}
