import { Option } from 'commander'
import { loadConfig, locateProfile } from '../../config.ts'
import {
  PROTOCOL_NAMES,
  protocolDescriptors,
  PROTOCOLS_TEXT,
  type ProtocolName
} from '../../../protocols/protocol-descriptors.ts'
import { askNetwork } from '../options/ask-network.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { nextSteps, type Plan } from './init-steps.ts'
import { decimal } from '../options/number-option.ts'
import { protocolOption } from '../options/protocol-option.ts'
import { UsageError } from '../terminal/usage-error.ts'

const ROLES = ['provide', 'consume', 'both'] as const
const WALLETS = ['create', 'import', 'none'] as const
type Role = (typeof ROLES)[number]

interface InitFlags {
  readonly network?: string
  readonly role?: Role
  readonly wallet?: (typeof WALLETS)[number]
  readonly walletFile?: string
  readonly passphraseFile?: string
  readonly oldPassphraseFile?: string
  readonly payout?: string
  readonly apiEndpoint?: string
  readonly apiName?: string
  readonly apiProtocol?: ProtocolName
  readonly apiPrice?: string
  readonly demo?: boolean
}

export const addInit: AddCommand = (to, cli) => {
  to.command('init')
    .description('set up a new profile; asks for each option that is not given; --no-input uses the defaults')
    .option('--network <network>', 'dev, base-sepolia or base; cannot be changed later')
    .addOption(new Option('--role <role>', 'use of the node').choices(ROLES))
    .addOption(new Option('--wallet <wallet>', 'wallet to pay and be paid with').choices(WALLETS))
    .option('--wallet-file <file>', 'key file to import')
    .option('--passphrase-file <file>', 'file with the passphrase of the wallet (default: asks for it)')
    .option('--old-passphrase-file <file>', 'file with the current passphrase of the key file (default: asks for it)')
    .option('--payout <address>', 'address that receives your earnings; keep its key on another machine')
    .option('--api-endpoint <url>', 'URL of the first API to sell')
    .option('--api-name <name>', 'name of the first API')
    .option('--api-protocol <protocol>', PROTOCOLS_TEXT, protocolOption)
    .option('--api-price <number>', 'price per call; 0 is free', decimal)
    .option('--demo', 'suggest souk demo first')
    .action((flags: InitFlags) => init(cli, flags))
}

async function init(cli: Cli, flags: InitFlags): Promise<void> {
  const profile = locateProfile(cli.profile, cli.terminal.env)
  const { checkNeverStarted, rememberSetup } = await import('../../profile/saved-settings.ts')
  await checkNeverStarted(profile)
  const network = flags.network ?? (cli.canAsk ? undefined : 'dev')
  // Includes the payout, so that an invalid address fails before any file is written.
  const first = await configOf(cli, { network, payout: flags.payout })
  const role =
    flags.role ?? (await choose(cli, 'Sell APIs (provide), call APIs of others (consume), or both', ROLES, 'both'))
  const card = await walletOf(cli, flags, first.network.name)
  const isSelling = role !== 'consume'
  const payout = isSelling
    ? (flags.payout ?? (card === undefined ? undefined : await askPayout(cli, first.network.name)))
    : undefined
  const api = isSelling && flags.demo !== true ? await apiOf(cli, flags) : undefined
  const { passphraseFile } = flags
  const ingress = role === 'provide' ? false : undefined
  await rememberSetup(await configOf(cli, { network: first.network.name, payout, passphraseFile, ingress }))

  const plan: Plan = {
    profile: profile.name,
    network: first.network.name,
    role,
    wallet: card?.address ?? null,
    payout: payout ?? null,
    api: api ?? null
  }
  const next = nextSteps(plan, { isDefault: cli.profile === undefined, isDemo: flags.demo === true })
  cli.terminal.note(`The profile "${profile.name}" is set up in ${profile.directory}. Next steps:`)
  await cli.print({ ...plan, next }, () => next)
}

/** Omits undefined members: loadConfig asks for them or uses defaults. */
function configOf(cli: Cli, flags: Readonly<Record<string, unknown>>) {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined)
  return loadConfig({
    flags: Object.fromEntries(given),
    profile: cli.profile,
    env: cli.terminal.env,
    ...(cli.canAsk ? { askNetwork: (choices) => askNetwork(cli, choices) } : {})
  })
}

async function walletOf(
  cli: Cli,
  flags: InitFlags,
  network: string
): Promise<{ readonly address: string } | undefined> {
  const { makeWallet, takeOverWallet } = await import('../../wallet/wallet-service.ts')
  const usual = flags.walletFile !== undefined ? 'import' : flags.passphraseFile !== undefined ? 'create' : 'none'
  const wanted =
    flags.wallet ??
    (usual === 'none'
      ? await choose(cli, 'Wallet to pay for calls and be paid: create, import or none', WALLETS, usual)
      : usual)
  if (wanted === 'none') return undefined
  const config = await configOf(cli, { network })
  const source = secret(cli, flags.passphraseFile)
  if (wanted === 'create') return cli.during('Creating the wallet', makeWallet(config, source))
  const file = flags.walletFile ?? (cli.canAsk ? await cli.terminal.ask('Its key file: ') : '')
  if (file === '')
    throw new UsageError('The key file to import is missing.', 'souk init --wallet import --wallet-file <file>')
  return cli.during('Importing the wallet', takeOverWallet(config, file, source, secret(cli, flags.oldPassphraseFile)))
}

function secret(cli: Cli, file: string | undefined) {
  const ask = cli.canAsk ? { ask: (question: string) => cli.terminal.askSecret(question) } : {}
  return file === undefined ? ask : { ...ask, file }
}

async function askPayout(cli: Cli, network: string): Promise<string | undefined> {
  const question = 'Payout address for your earnings, with its key on another machine, or Enter for later: '
  return ask(cli, question, undefined, async (typed) => {
    if (typed === '') return { value: undefined }
    try {
      await configOf(cli, { network, payout: typed })
      return { value: typed }
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  })
}

/** The API for the suggested `souk api register`. The node reads its endpoint at registration, not now. */
async function apiOf(cli: Cli, flags: InitFlags): Promise<Plan['api']> {
  const endpoint =
    flags.apiEndpoint ??
    (await ask(cli, 'URL of the first API to sell, or Enter for later: ', undefined, (typed) => {
      const isUrl = /^https?:$/.test(URL.parse(typed)?.protocol ?? '')
      return typed === '' || isUrl ? { value: typed === '' ? undefined : typed } : 'Give an http or https URL.'
    }))
  if (endpoint === undefined) return null
  return {
    endpoint,
    name: flags.apiName ?? (await ask(cli, 'Its name [my-api]: ', 'my-api', named)),
    protocol: flags.apiProtocol ?? (await choose(cli, 'Its protocol', PROTOCOL_NAMES, protocolDescriptors[0].name)),
    price: flags.apiPrice ?? (await ask(cli, 'Price per call in USDC [0]: ', '0', priced))
  }
}

type Checked<T> = { readonly value: T } | string

function named(typed: string): Checked<string> {
  if (typed === '') return { value: 'my-api' }
  return /^[a-z\d][a-z\d-]*$/.test(typed)
    ? { value: typed }
    : 'Names consist of a-z, 0-9 and "-", and do not begin with "-".'
}

function priced(typed: string): Checked<string> {
  if (typed === '') return { value: '0' }
  return /^\d+(\.\d{1,6})?$/.test(typed)
    ? { value: typed }
    : 'Give a decimal number with at most six decimals, like 0.001.'
}

/** Enter, and a run without a terminal, select `usual`. */
async function choose<T extends string>(cli: Cli, question: string, choices: readonly T[], usual: T): Promise<T> {
  return ask<T>(cli, `${question} [${usual}]: `, usual, (typed) => {
    const found = typed === '' ? usual : choices.find((choice) => choice.toLowerCase() === typed.toLowerCase())
    return found === undefined ? `Choose one of ${choices.join(', ')}.` : { value: found }
  })
}

/** Asks until the input is valid. */
async function ask<T>(
  cli: Cli,
  question: string,
  usual: T,
  check: (typed: string) => Checked<T> | Promise<Checked<T>>
): Promise<T> {
  if (!cli.canAsk) return usual
  for (;;) {
    const checked = await check(await cli.terminal.ask(question))
    if (typeof checked !== 'string') return checked.value
    cli.terminal.note(checked)
  }
}
