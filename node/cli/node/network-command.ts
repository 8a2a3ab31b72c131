import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { loadConfig, locateProfile } from '../../config.ts'
import type { NetworkView } from '../../network/network-service.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal } from '../options/number-option.ts'
import { facts } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { RESTART } from './join-command.ts'

interface CreateFlags {
  readonly name: string
  readonly chain: string
  readonly treasury?: string
  readonly bootstrap?: readonly string[]
  readonly host?: string
  readonly lan?: boolean
  readonly ethPrice?: string
  readonly passphraseFile?: string
  readonly out: string
  readonly yes?: boolean
}

interface SignFlags {
  readonly bootstrap?: readonly string[]
  readonly host?: string
  readonly chainRpc?: string
  readonly lan?: boolean
  readonly successor?: string
  readonly out: string
}

const OUT = 'network.json'
const service = () => import('../../network/network-service.ts')

/** Commands for networks of one’s own: found one, change its file, look at one. */
export const addNetwork: AddCommand = (to, cli) => {
  const network = to.command('network').description('found a network, and look at the file that defines it')
  addCreate(network, cli)
  addSign(network, cli)
  addLooking(network, cli)
}

function addCreate(network: Command, cli: Cli): void {
  network
    .command('create')
    .description('found a network: deploys its splitter factory, and writes the file by which others join')
    .requiredOption('--name <name>', 'name of the network')
    .requiredOption('--chain <chain>', 'base, base-sepolia, or the URL of an endpoint of a play chain')
    .option('--treasury <address>', 'account that receives 5% of all payments on this network; cannot be changed later')
    .option('--bootstrap <multiaddr...>', 'addresses of the first peers')
    .option('--host <host>', 'name or IP address of this machine, if its node is a first peer (TCP port 4402)')
    .option('--lan', 'a private network, in one office: nodes announce private addresses')
    .option('--eth-price <usd>', 'price of 1 ETH, to show the cost in dollars', decimal)
    .option('--passphrase-file <file>', 'file with the passphrase of the wallet, which pays the gas')
    .option('--out <file>', 'where to write the network file', OUT)
    .option('--yes', 'do not ask before the transaction')
    .action(async (flags: CreateFlags) => {
      const { checkBootstrap, checkNetworkName, createNetwork, parseTreasury, formatNetworkFile } = await service()
      checkNetworkName(flags.name)
      checkBootstrap(flags.bootstrap ?? [])
      const treasury = parseTreasury(await treasuryOf(cli, flags))
      const { bootstrap = [], host, lan = false, passphraseFile } = flags
      const created = await createNetwork({
        profile: locateProfile(cli.profile, cli.terminal.env),
        name: flags.name,
        chain: flags.chain,
        treasury,
        bootstrap,
        lan,
        ...(host === undefined ? {} : { host }),
        ...passphraseOf(cli, passphraseFile),
        confirm: (cost) => confirm(cli, flags, cost)
      })
      if (created === undefined) return
      await writeFile(flags.out, formatNetworkFile(created.file))
      const { file, network: name, transaction, costWei } = created
      const value = {
        network: name,
        file: flags.out,
        founder: file.founder,
        chain_id: file.chain.id,
        treasury: file.chain.treasury,
        splitter_factory: file.chain.splitter_factory,
        transaction: transaction ?? null,
        cost_wei: String(costWei)
      }
      await cli.print(value, () => facts(Object.entries(value).map(([key, text]) => [key, String(text ?? 'none')])))
      const { note } = cli.terminal
      const souk = cli.profile === undefined ? 'souk' : `souk --profile ${cli.profile}`
      note(
        `The network is founded. Back up the profile: its key signs all later files, and cannot be replaced if lost.`
      )
      note(`Run the first node: ${souk} up. Invite others: ${souk} invite`)
    })
}

function addSign(network: Command, cli: Cli): void {
  network
    .command('sign')
    .description("sign a new revision of this network's file, with the founder's profile; options not given stay")
    .option('--bootstrap <multiaddr...>', 'addresses of the first peers; replaces all')
    .option('--host <host>', 'adds TCP port 4402 of this host, as the address of this node')
    .option('--chain-rpc <url>', 'JSON-RPC endpoint')
    .option('--lan', 'make the network private')
    .option('--no-lan', 'make the network public')
    .option('--successor <peer id>', 'peer id of another profile, whose key may sign later revisions as well')
    .option('--out <file>', 'where to write the network file', OUT)
    .action(async ({ out, chainRpc: rpc, ...changes }: SignFlags, command: Command) => {
      const { signRevision, formatNetworkFile } = await service()
      const config = await loadConfig({ flags: {}, profile: cli.profile, env: cli.terminal.env })
      // `--no-lan` makes commander set a default.
      const { lan, ...rest } = changes
      const isTyped = command.getOptionValueSource('lan') === 'cli'
      const file = await signRevision(config, {
        ...rest,
        ...(isTyped && lan !== undefined ? { lan } : {}),
        ...(rpc === undefined ? {} : { rpc })
      })
      await writeFile(out, formatNetworkFile(file))
      await cli.print({ file: out, revision: file.revision }, () => [`Revision ${file.revision} is in ${out}.`])
      cli.terminal.note('Publish it where the earlier one was. Nodes that joined from there take it within an hour.')
      cli.terminal.note(RESTART)
    })
}

function addLooking(network: Command, cli: Cli): void {
  const looking = (name: string, description: string) =>
    network
      .command(name)
      .description(description)
      .argument('[place]', 'path or https URL of a network file, or an invitation (default: the one of this profile)')

  looking('show', 'show what a network file says').action(async (place: string | undefined) => {
    const { networkAt, networkView } = await service()
    const view = networkView(await networkAt(place, () => configOf(cli)))
    await cli.print(view, () => viewLines(view))
  })

  looking('check', 'check a network file: form, signatures, and the contracts on its chain').action(
    async (place: string | undefined) => {
      const { checkNetwork, networkAt, networkView } = await service()
      const found = await networkAt(place, () => configOf(cli))
      await cli.during('Waiting for the chain', checkNetwork(found))
      const view = networkView(found)
      await cli.print({ ok: true, ...view }, () => [
        ...viewLines(view),
        'The signatures are valid, and the contracts on the chain are the expected ones.'
      ])
    }
  )
}

function viewLines(view: NetworkView): string[] {
  return facts(
    Object.entries(view).flatMap(([key, value]) => {
      const texts = typeof value === 'object' && value !== null ? value : [String(value ?? 'none')]
      return texts.map((text) => [key, text] as const)
    })
  )
}

function configOf(cli: Cli) {
  return loadConfig({ flags: {}, profile: cli.profile, env: cli.terminal.env })
}

async function treasuryOf(cli: Cli, { treasury }: CreateFlags): Promise<string> {
  const question = 'Treasury: the account that receives 5% of all payments, for good. Its key belongs on no node: '
  const address = treasury ?? (cli.canAsk ? await cli.terminal.ask(question) : '')
  if (address !== '') return address
  throw new UsageError('The treasury is missing: the account that receives 5% of all payments.', '--treasury <address>')
}

function passphraseOf(cli: Cli, file: string | undefined) {
  if (file === undefined && !cli.canAsk) return {}
  const ask = cli.canAsk ? { ask: (question: string) => cli.terminal.askSecret(question) } : {}
  return { passphrase: { ...ask, ...(file === undefined ? {} : { file }) } }
}

async function confirm(
  cli: Cli,
  { yes, ethPrice }: CreateFlags,
  { wei, wallet }: { readonly wei: bigint; readonly wallet: string }
): Promise<boolean> {
  const { costText } = await service()
  cli.terminal.note(`The splitter factory costs at most ${costText(wei, ethPrice)}, paid by ${wallet}.`)
  return cli.confirm({ yes, question: 'Send the transaction?' })
}
