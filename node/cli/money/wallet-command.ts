import type { Command } from 'commander'
import type { WalletView } from '../../admin/money/money-api.ts'
import { loadConfig, locateProfile } from '../../config.ts'
import { askNetwork } from '../options/ask-network.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal } from '../options/number-option.ts'
import { facts } from '../terminal/table.ts'
import { addWalletWithdraw } from './wallet-withdraw-command.ts'

interface WalletFlags {
  readonly network?: string
  readonly chainRpc?: string
  readonly passphraseFile?: string
  readonly oldPassphraseFile?: string
}

const walletService = () => import('../../wallet/wallet-service.ts')

export const addWallet: AddCommand = (to, cli) => {
  const wallet = to.command('wallet').description('the account that this node pays from, and gets its gas from')
  addMaking(wallet, cli)
  addKeeping(wallet, cli)
  addMoney(wallet, cli)
  addWalletWithdraw(wallet, cli)
}

function addMaking(wallet: Command, cli: Cli): void {
  const making = (name: string, description: string) =>
    wallet
      .command(name)
      .description(description)
      .option('--network <network>', 'dev, base-sepolia or base, where the profile does not say; for good')
      .option('--passphrase-file <file>', 'the passphrase for it (default: it is asked for)')

  making('create', 'make a wallet: a key of its own, in a file under a passphrase').action(
    async (flags: WalletFlags) => {
      const config = await configOf(cli, flags)
      const { makeWallet } = await walletService()
      const made = makeWallet(config, secret(cli, config.payments.passphraseFile))
      await tellNew(cli, await cli.during('Making the wallet', made))
    }
  )

  making('import', 'take over a key')
    .argument('<file>', 'another wallet’s key file (keystore version 3), or 64 hex digits')
    .option('--old-passphrase-file <file>', 'the passphrase the key file has now (default: it is asked for)')
    .action(async (file: string, { oldPassphraseFile, ...flags }: WalletFlags) => {
      const config = await configOf(cli, flags)
      const { takeOverWallet } = await walletService()
      const source = secret(cli, config.payments.passphraseFile)
      const made = takeOverWallet(config, file, source, secret(cli, oldPassphraseFile))
      await tellNew(cli, await cli.during('Taking the wallet over', made))
    })
}

async function tellNew(cli: Cli, made: Parameters<Cli['print']>[0] & { address: string; money: string }) {
  await cli.print(made, () => [made.address])
  const { note } = cli.terminal
  note('Back it up: souk wallet backup <file>. Who loses the file or the passphrase loses what is in it.')
  note(`Fund it: ${made.money} to pay for calls; a little ETH for gas to be paid for them, or to leave an owner alone.`)
  note('A node that runs on this profile takes it at its next start.')
}

function addKeeping(wallet: Command, cli: Cli): void {
  wallet
    .command('show')
    .description('its address and its key file')
    .action(async () => {
      const { showWallet } = await walletService()
      const shown = await showWallet(locateProfile(cli.profile, cli.terminal.env))
      await cli.print(shown, () =>
        facts([
          ['address', shown.address],
          ['network', `${shown.network} (${shown.money})`],
          ['key file', shown.file]
        ])
      )
    })

  wallet
    .command('backup')
    .description('copy the key file, encrypted as it is')
    .argument('<file>', 'a new one, best on another disk')
    .action(async (file: string) => {
      const { keepWallet } = await walletService()
      const kept = await keepWallet(locateProfile(cli.profile, cli.terminal.env), file)
      await cli.print(kept, () => [])
      cli.terminal.note(`${file} holds the key of ${kept.address}, under the passphrase that the wallet has.`)
    })
}

function addMoney(wallet: Command, cli: Cli): void {
  wallet
    .command('balance')
    .description('what is in it; not what is in channels')
    .option('--chain-rpc <url>', 'where to ask when no node runs')
    .action(async (flags: WalletFlags) => {
      const view = await balance(cli, flags)
      await cli.print(view, () => balanceLines(view))
    })

  wallet
    .command('deposit')
    .description('where to send money to; on the network dev, play money for the asking')
    .argument('[amount]', 'dev only: so much play USDC', decimal)
    .option('--chain-rpc <url>', 'dev only: where the chain is')
    .action(async (amount: string | undefined, flags: WalletFlags) => {
      const { playMoney, showWallet } = await walletService()
      if (amount !== undefined) {
        const view = await cli.during('Waiting for the chain', playMoney(await configOf(cli, flags), amount))
        return cli.print(view, () => balanceLines(view))
      }
      const shown = await showWallet(locateProfile(cli.profile, cli.terminal.env))
      await cli.print(shown, () => [shown.address])
      cli.terminal.note(
        `Send ${shown.money} there, on ${shown.network} and no other network, and a little ETH for gas.`
      )
      if (shown.network === 'dev') cli.terminal.note('On dev it is for the asking: souk wallet deposit 10')
    })
}

async function balance(cli: Cli, flags: WalletFlags): Promise<WalletView> {
  if (flags.chainRpc === undefined) {
    const running = await cli
      .node()
      .then((node) => node.request('GET /wallet'))
      .catch(notRunning)
    if (running !== undefined) return running
  }
  const { walletBalance } = await walletService()
  return cli.during('Waiting for the chain', walletBalance(await configOf(cli, flags)))
}

/** The chain can be asked without a node that runs, or with one that has not taken the wallet yet. */
function notRunning(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'node_not_running' || code === 'settlement_unavailable') return undefined
  throw error
}

function balanceLines({ address, network, money, balance, balance_final: final, gas, held }: WalletView): string[] {
  const waiting = final === balance ? '' : ` (${final} for good)`
  return facts([
    ['address', address],
    ['network', network],
    ['balance', `${balance} ${money}${waiting}`],
    ...(held === null || held === '0' ? [] : [['owed', `${held} ${money}, to prepaid accounts`] as const]),
    ['gas', `${gas} ETH`]
  ])
}

function configOf(cli: Cli, flags: WalletFlags) {
  return loadConfig({
    flags: { ...flags },
    profile: cli.profile,
    env: cli.terminal.env,
    ...(cli.canAsk ? { askNetwork: (choices) => askNetwork(cli, choices) } : {})
  })
}

function secret(cli: Cli, file: string | undefined) {
  const ask = cli.canAsk ? { ask: (question: string) => cli.terminal.askSecret(question) } : {}
  return file === undefined ? ask : { ...ask, file }
}
