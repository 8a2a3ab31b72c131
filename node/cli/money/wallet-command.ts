import type { Command } from 'commander'
import type { WalletView } from '../../admin/money/money-api.ts'
import { loadConfig, locateProfile } from '../../config.ts'
import { askNetwork } from '../options/ask-network.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { amount as amountOption } from '../options/number-option.ts'
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
  const wallet = to.command('wallet').description('the account from which this node pays for calls and gas')
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
      .option(
        '--network <network>',
        'demo, dev, base-sepolia, base, or a network file, if the profile has no network yet; cannot be changed later'
      )
      .option('--passphrase-file <file>', 'file with the passphrase (default: asks for it)')

  making('create', 'create a wallet with a new key, in an encrypted file').action(async (flags: WalletFlags) => {
    const config = await configOf(cli, flags)
    const { makeWallet } = await walletService()
    const made = makeWallet(config, secret(cli, config.payments.passphraseFile))
    await tellNew(cli, await cli.during('Creating the wallet', made))
  })

  making('import', 'import a key')
    .argument('<file>', 'key file of another wallet (keystore version 3), or a file with 64 hex digits')
    .option('--old-passphrase-file <file>', 'file with the current passphrase of the key file (default: asks for it)')
    .action(async (file: string, { oldPassphraseFile, ...flags }: WalletFlags) => {
      const config = await configOf(cli, flags)
      const { takeOverWallet } = await walletService()
      const source = secret(cli, config.payments.passphraseFile)
      const made = takeOverWallet(config, file, source, secret(cli, oldPassphraseFile))
      await tellNew(cli, await cli.during('Importing the wallet', made))
    })
}

async function tellNew(cli: Cli, made: Parameters<Cli['print']>[0] & { address: string; money: string }) {
  await cli.print(made, () => [made.address])
  const { note } = cli
  note('Back it up: souk wallet backup <file>. Without the file and the passphrase, the money is lost.')
  note(
    `Fund it: ${made.money} to pay for calls. A little ETH for gas, to claim earnings or to withdraw without an owner.`
  )
  note('Restart a running node of this profile to use the wallet.')
}

function addKeeping(wallet: Command, cli: Cli): void {
  wallet
    .command('show')
    .description('show the address and the key file')
    .action(async () => {
      const { showWallet } = await walletService()
      const shown = await showWallet(await walletConfigOf(cli))
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
    .description('copy the encrypted key file')
    .argument('<file>', 'new file, preferably on another disk')
    .action(async (file: string) => {
      const { keepWallet } = await walletService()
      const kept = await keepWallet(await walletConfigOf(cli), file)
      await cli.print(kept, () => [])
      cli.terminal.note(`${file} contains the key of ${kept.address}, encrypted with the passphrase of the wallet.`)
    })
}

function addMoney(wallet: Command, cli: Cli): void {
  wallet
    .command('balance')
    .description('show the balance, without deposits in channels')
    .option('--chain-rpc <url>', 'endpoint of the chain, if no node runs')
    .action(async (flags: WalletFlags) => {
      const view = await balance(cli, flags)
      await cli.print(view, () => balanceLines(view))
    })

  wallet
    .command('deposit')
    .description('show the address for deposits; on a play network, get play USDC')
    .argument('[amount]', 'play networks only: amount of play USDC', amountOption)
    .option('--chain-rpc <url>', 'play networks only: endpoint of the chain')
    .action(async (amount: string | undefined, flags: WalletFlags) => {
      const { playMoney, showWallet } = await walletService()
      if (amount !== undefined) {
        const view = await cli.during('Waiting for the chain', playMoney(await configOf(cli, flags), amount))
        return cli.print(view, () => balanceLines(view))
      }
      const config = await walletConfigOf(cli)
      const shown = await showWallet(config)
      await cli.print(shown, () => [shown.address])
      cli.terminal.note(
        `Send ${shown.money}, and a little ETH for gas, to this address. Use only the network ${shown.network}.`
      )
      if (config.network.isPlay) cli.note('Play USDC is free: souk wallet deposit 10')
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

/** Without a running node, or with one that does not use the wallet yet, the command reads the chain itself. */
function notRunning(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'node_not_running' || code === 'settlement_unavailable') return undefined
  throw error
}

function balanceLines({ address, network, money, balance, balance_final: final, gas, held }: WalletView): string[] {
  const waiting = final === balance ? '' : ` (${final} final)`
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

/** @throws SetupError `wallet_missing`, also if the profile is new */
async function walletConfigOf(cli: Cli) {
  const { someWallet } = await walletService()
  await someWallet(locateProfile(cli.profile, cli.terminal.env))
  return configOf(cli, {})
}

function secret(cli: Cli, file: string | undefined) {
  const ask = cli.canAsk ? { ask: (question: string) => cli.terminal.askSecret(question) } : {}
  return file === undefined ? ask : { ...ask, file }
}
