import { readFile } from 'node:fs/promises'
import { checksummed, text } from '../../lib/index.ts'
import type { Address, Chain, ChainParameters } from '../../lib/interface/index.ts'
import type { WalletView } from '../admin/money/money-api.ts'
import { walletView } from '../admin/money/money-views.ts'
import type { WalletCardView } from '../admin/money/wallet-api.ts'
import type { Network } from '../networks.ts'
import type { NodeConfig } from '../node-config.ts'
import { openProfile, profileFile, type ProfileLocation } from '../profile/profile.ts'
import { readPrivateFile } from '../profile/private-file.ts'
import { rememberNetwork } from '../profile/saved-settings.ts'
import { SetupError } from '../setup-error.ts'
import { choosePassphrase, generatePassphrase, type PassphraseSource, readPassphrase } from './passphrase.ts'
import {
  backUpWallet,
  checkNoWallet,
  createWallet,
  importWallet,
  isBareKey,
  walletInfo,
  type WalletInfo
} from './wallet-file.ts'

export { generatePassphrase }

/** Information about a local wallet, whether its node runs or not. */
export interface WalletCard {
  /** With its checksum. */
  readonly address: string
  readonly network: string
  /** Display name of the currency on that network. */
  readonly money: string
  /** The key file. */
  readonly file: string
}

/** The profile’s wallet on disk. A running node uses a new wallet from its next start. */
export interface WalletService {
  card(): Promise<WalletCardView>
  make(passphrase: string): Promise<WalletCardView>
  takeOver(keyFile: string, oldPassphrase: string, passphrase: string): Promise<WalletCardView>
  keyFile(): Promise<string>
  /** Adds play money, on a network with play money. */
  give(amount: string): Promise<void>
}

/** The address of the profile's wallet; undefined without one. @throws SetupError `config_invalid` for a wallet of another network */
export async function keptWallet({ profile, network }: NodeConfig): Promise<string | undefined> {
  const known = await walletInfo(profile)
  if (known === undefined || known.network === network.name) return known && checksummed(known.address)
  throw new SetupError(
    'config_invalid',
    `The profile "${profile.name}" has a wallet for the network ${known.network}. It stays on that network.`,
    { hint: 'another profile: souk init --profile <name>' }
  )
}

/** @throws SetupError `wallet_exists`, `config_invalid` */
export async function makeWallet(config: NodeConfig, source: PassphraseSource): Promise<WalletCard> {
  const { profile, network } = config
  await openProfile(profile)
  await checkNoWallet(profile)
  const passphrase = await choosePassphrase(source)
  const { address } = await createWallet(profile, network.name, passphrase, derivation(source))
  await rememberNetwork(config)
  return card(profile, network, address)
}

/** A slow derivation protects a passphrase that can be guessed. Each start pays for it. */
const RANDOM_SCRYPT_N = 1_024

function derivation({ isRandom = false }: PassphraseSource): { n: number } | undefined {
  return isRandom ? { n: RANDOM_SCRYPT_N } : undefined
}

/**
 * Imports the key in a file: another wallet’s key file, or 64 hex digits.
 * @throws SetupError `wallet_exists`, `wallet_broken`, `passphrase_wrong`, `config_invalid`
 */
export async function takeOverWallet(
  config: NodeConfig,
  path: string,
  source: PassphraseSource,
  old: PassphraseSource
): Promise<WalletCard> {
  const { profile, network } = config
  const content = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new SetupError('config_invalid', `${path} cannot be read.`, { cause })
  })
  await openProfile(profile)
  await checkNoWallet(profile)
  const oldPassphrase = isBareKey(content) ? {} : { oldPassphrase: await readPassphrase(old, 'Its passphrase now: ') }
  const passphrase = await choosePassphrase(source)
  const { address } = await importWallet(
    profile,
    network.name,
    { content, passphrase, ...oldPassphrase },
    derivation(source)
  )
  await rememberNetwork(config)
  return card(profile, network, address)
}

/** @throws SetupError `wallet_missing`, `wallet_broken` */
export async function someWallet(profile: ProfileLocation): Promise<WalletInfo> {
  const info = await walletInfo(profile)
  if (info !== undefined) return info
  throw new SetupError('wallet_missing', 'This profile has no wallet.', { hint: 'souk wallet create' })
}

/** @throws SetupError `wallet_missing`, `wallet_broken` */
export async function showWallet({ profile, network }: NodeConfig): Promise<WalletCard> {
  const info = await someWallet(profile)
  return card(profile, { name: info.network, money: network.money }, info.address)
}

/** @throws SetupError `wallet_missing`, `config_invalid` if the file exists already */
export async function keepWallet(config: NodeConfig, destination: string): Promise<WalletCard> {
  await backUpWallet(config.profile, destination)
  return { ...(await showWallet(config)), file: destination }
}

/** Queries the chain directly. @throws SetupError `wallet_missing`, SoukError `settlement_unavailable` */
export async function walletBalance(config: NodeConfig): Promise<WalletView> {
  const address = await ownAddress(config)
  const { network } = config
  const chain = await verifiedChain(config.chain)
  const [latest, finalized, wei] = await Promise.all([
    chain.balance(address, 'latest'),
    chain.balance(address, 'finalized'),
    chain.gas(address)
  ])
  return walletView({ address, network: network.name, money: network.money }, { latest, finalized, wei })
}

/**
 * Mints play USDC, and play ETH for gas, on a dev chain.
 * @throws SetupError `config_invalid` on a network with real money, SoukError `settlement_unavailable`
 */
export async function playMoney(config: NodeConfig, amount: string): Promise<WalletView> {
  const { network, chain: parameters } = config
  if (!network.isPlay) {
    const { money, name } = network
    throw new SetupError('config_invalid', `Souk cannot mint ${money} on ${name}. Send some to the wallet.`, {
      hint: 'souk wallet deposit, which shows the address'
    })
  }
  const address = await ownAddress(config)
  // A mistyped endpoint may belong to another chain.
  await verifiedChain(parameters)
  const { givePlayMoney } = await import('../demo/play-chain.ts')
  await givePlayMoney(address, amount, parameters.rpcUrl)
  return walletBalance(config)
}

/** The wallet commands of the admin API. */
export function walletService(config: NodeConfig): WalletService {
  const { profile, network } = config
  const { money } = network
  const cardOf = (address: Address | undefined) => ({
    address: address === undefined ? null : checksummed(address),
    network: network.name,
    money
  })
  return {
    card: async () => cardOf((await walletInfo(profile))?.address),
    make: async (passphrase) => cardOf((await createWallet(profile, network.name, passphrase)).address),
    async takeOver(content, oldPassphrase, passphrase) {
      if (isBareKey(content)) {
        throw new SetupError('config_invalid', 'This is an unencrypted key. Import it with souk wallet import.')
      }
      return cardOf((await importWallet(profile, network.name, { content, passphrase, oldPassphrase })).address)
    },
    async keyFile() {
      const bytes = await readPrivateFile(profileFile(profile, 'wallet'))
      if (bytes === undefined) throw new SetupError('wallet_missing', 'This profile has no wallet.')
      return text(bytes)
    },
    give: async (amount) => void (await playMoney(config, amount))
  }
}

/** Loads the code for chains, which nodes without money do without. @throws SoukError `settlement_unavailable` */
async function verifiedChain(parameters: ChainParameters): Promise<Chain> {
  const { createChain } = await import('../../lib/pay/index.ts')
  const chain = createChain(parameters)
  await chain.verify()
  return chain
}

async function ownAddress(config: NodeConfig): Promise<Address> {
  return (await showWallet(config)).address.toLowerCase() as Address
}

function card(profile: ProfileLocation, network: Pick<Network, 'name' | 'money'>, address: Address): WalletCard {
  return {
    address: checksummed(address),
    network: network.name,
    money: network.money,
    file: profileFile(profile, 'wallet')
  }
}
