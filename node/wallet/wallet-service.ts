import { readFile } from 'node:fs/promises'
import { checksummed, text } from '../../lib/index.ts'
import { createChain } from '../../lib/pay/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import type { WalletView } from '../admin/money/money-api.ts'
import { walletView } from '../admin/money/money-views.ts'
import type { WalletCardView } from '../admin/money/wallet-api.ts'
import { givePlayMoney } from '../demo/play-chain.ts'
import { type NetworkName, NETWORKS } from '../networks.ts'
import type { NodeConfig } from '../node-config.ts'
import { openProfile, profileFile, type ProfileLocation } from '../profile/profile.ts'
import { readPrivateFile } from '../profile/private-file.ts'
import { rememberNetwork } from '../profile/saved-settings.ts'
import { SetupError } from '../setup-error.ts'
import { choosePassphrase, type PassphraseSource, readPassphrase } from './passphrase.ts'
import { backUpWallet, checkNoWallet, createWallet, importWallet, isBareKey, walletInfo } from './wallet-file.ts'

/** What there is to tell of a wallet that is on this machine, whether its node runs or not. */
export interface WalletCard {
  /** With its checksum. */
  readonly address: string
  readonly network: NetworkName
  /** What its money is called there. */
  readonly money: string
  /** The key file. */
  readonly file: string
}

/** The wallet of the profile, on disk. A node that runs takes a new one at its next start. */
export interface WalletService {
  card(): Promise<WalletCardView>
  make(passphrase: string): Promise<WalletCardView>
  takeOver(keyFile: string, oldPassphrase: string, passphrase: string): Promise<WalletCardView>
  keyFile(): Promise<string>
  /** Play money, where money is for play. */
  give(amount: string): Promise<void>
}

/** @throws SetupError `wallet_exists`, `config_invalid` */
export async function makeWallet(config: NodeConfig, source: PassphraseSource): Promise<WalletCard> {
  const { profile, network } = config
  await openProfile(profile)
  await checkNoWallet(profile)
  const { address } = await createWallet(profile, network, await choosePassphrase(source))
  await rememberNetwork(config)
  return card(profile, network, address)
}

/**
 * Takes over the key in a file: another wallet's key file, or 64 hex digits.
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
  const { address } = await importWallet(profile, network, { content, passphrase, ...oldPassphrase })
  await rememberNetwork(config)
  return card(profile, network, address)
}

/** @throws SetupError `wallet_missing`, `wallet_broken` */
export async function showWallet(profile: ProfileLocation): Promise<WalletCard> {
  const info = await walletInfo(profile)
  if (info === undefined) {
    throw new SetupError('wallet_missing', 'This profile has no wallet.', { hint: 'souk wallet create' })
  }
  return card(profile, info.network, info.address)
}

/** @throws SetupError `wallet_missing`, `config_invalid` where the file is there already */
export async function keepWallet(profile: ProfileLocation, destination: string): Promise<WalletCard> {
  await backUpWallet(profile, destination)
  return { ...(await showWallet(profile)), file: destination }
}

/** Asks the chain itself. @throws SetupError `wallet_missing`, SoukError `settlement_unavailable` */
export async function walletBalance(config: NodeConfig): Promise<WalletView> {
  const address = await ownAddress(config)
  const { network } = config
  const chain = createChain(config.chain)
  await chain.verify()
  const [latest, finalized, wei] = await Promise.all([
    chain.balance(address, 'latest'),
    chain.balance(address, 'finalized'),
    chain.gas(address)
  ])
  return walletView({ address, network, money: NETWORKS[network].money }, { latest, finalized, wei })
}

/**
 * Makes play USDC, and play ETH for gas, on a dev chain.
 * @throws SetupError `config_invalid` on a network where money is worth something, SoukError `settlement_unavailable`
 */
export async function playMoney(config: NodeConfig, amount: string): Promise<WalletView> {
  const { network, chain: parameters } = config
  if (network !== 'dev') {
    const { money } = NETWORKS[network]
    throw new SetupError('config_invalid', `Nobody makes ${money} on ${network}: send some to the wallet.`, {
      hint: 'souk wallet deposit, which shows the address'
    })
  }
  const address = await ownAddress(config)
  // An endpoint that was mistyped may be of any chain.
  await createChain(parameters).verify()
  await givePlayMoney(address, amount, parameters.rpcUrl)
  return walletBalance(config)
}

/** The same for whoever has the profile's node at hand: by its admin API. */
export function walletService(config: NodeConfig): WalletService {
  const { profile, network } = config
  const { money } = NETWORKS[network]
  const cardOf = (address: Address | undefined) => ({
    address: address === undefined ? null : checksummed(address),
    network,
    money
  })
  return {
    card: async () => cardOf((await walletInfo(profile))?.address),
    make: async (passphrase) => cardOf((await createWallet(profile, network, passphrase)).address),
    async takeOver(content, oldPassphrase, passphrase) {
      if (isBareKey(content)) {
        throw new SetupError('config_invalid', 'That is a key as it is: it is taken over by souk wallet import alone.')
      }
      return cardOf((await importWallet(profile, network, { content, passphrase, oldPassphrase })).address)
    },
    async keyFile() {
      const bytes = await readPrivateFile(profileFile(profile, 'wallet'))
      if (bytes === undefined) throw new SetupError('wallet_missing', 'This profile has no wallet.')
      return text(bytes)
    },
    give: async (amount) => void (await playMoney(config, amount))
  }
}

async function ownAddress({ profile }: NodeConfig): Promise<Address> {
  return (await showWallet(profile)).address.toLowerCase() as Address
}

function card(profile: ProfileLocation, network: NetworkName, address: Address): WalletCard {
  return {
    address: checksummed(address),
    network,
    money: NETWORKS[network].money,
    file: profileFile(profile, 'wallet')
  }
}
