import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { checksummed, systemClock } from '../../lib/index.ts'
import type { Address, Chain, Signer } from '../../lib/interface/index.ts'
import { deploySplitters, estimateSplitters } from '../../lib/pay/index.ts'
import { faucet } from '../demo/chain/dev-chain.ts'
import { identityOf } from '../profile/identity.ts'
import { lockProfile } from '../profile/profile-lock.ts'
import { openProfile, profileFile, type ProfileLocation, readProfileJson } from '../profile/profile.ts'
import { rememberFounded } from '../profile/saved-settings.ts'
import { SetupError } from '../setup-error.ts'
import { choosePassphrase, generatePassphrase, type PassphraseSource, readPassphrase } from '../wallet/passphrase.ts'
import { createWallet, openWallet, walletInfo } from '../wallet/wallet-file.ts'
import { fileChain } from './chain-rules.ts'
import { chainToFound } from './found-chain.ts'
import { signNetworkFile } from './network-file.ts'
import type { NetworkFile } from './network-file-schema.ts'
import { networkNameOf, networkOf } from './network-of.ts'

export interface CreateNetworkInit {
  readonly profile: ProfileLocation
  readonly name: string
  /** `base`, `base-sepolia`, or the URL of a JSON-RPC endpoint. */
  readonly chain: string
  readonly treasury: Address
  readonly bootstrap: readonly string[]
  /** Port 4402 of this host is the founder’s node. */
  readonly host?: string
  readonly lan: boolean
  /** Absent: on a play chain, one is generated. */
  readonly passphrase?: PassphraseSource
  /** Asks the founder before the transaction. False: nothing is sent. */
  readonly confirm: (cost: { readonly wei: bigint; readonly wallet: string }) => Promise<boolean>
}

export interface CreatedNetwork {
  readonly file: NetworkFile
  /** The name that peers use. */
  readonly network: string
  /** Absent if the factory existed before. */
  readonly transaction?: string
  readonly costWei: bigint
}

const P2P_PORT = 4402

/**
 * Founds a network: deploys its splitter factory, verifies all contracts, and signs the network file with the profile’s identity. Can be
 * repeated after a failure. Resolves to undefined if the founder declined.
 * @throws SetupError, SoukError `settlement_unavailable`
 */
export async function createNetwork(init: CreateNetworkInit): Promise<CreatedNetwork | undefined> {
  const { profile, name, treasury } = init
  const { chain, isPlay } = await chainToFound(init.chain)
  await openProfile(profile)
  const lock = lockProfile(profileFile(profile, 'lock'), profile.name)
  try {
    const key = await identityOf(profile)
    const founder = peerIdFromPrivateKey(key).toString()
    const network = networkNameOf({ name, founder })
    await checkUnbound(profile, network)
    const own = init.host === undefined ? [] : [addressOf(init.host, founder)]
    // Sign first, because signing checks all terms. The file is written only when the contract is there.
    const terms = {
      chain: fileChain(chain.parameters, treasury),
      bootstrap: [...init.bootstrap, ...own],
      lan: init.lan
    }
    const file = await signNetworkFile({ name, revision: 1, founder, handovers: [], ...terms }, key)
    const signer = await walletOf(init, network, isPlay)
    const deployed = await deploy(init, chain, { signer, isPlay })
    if (deployed === undefined) return undefined
    await rememberFounded(profile, networkOf(file), signer.address)
    return { file, network, ...deployed }
  } finally {
    lock.release()
  }
}

async function deploy(
  { treasury, confirm }: CreateNetworkInit,
  chain: Chain,
  { signer, isPlay }: { readonly signer: Signer; readonly isPlay: boolean }
): Promise<{ transaction?: string; costWei: bigint } | undefined> {
  if (isPlay) await faucet(chain.parameters.rpcUrl).fundGas(signer.address)
  const wei = await estimateSplitters({ chain, treasury, signer })
  const wallet = checksummed(signer.address)
  if (wei !== undefined && (await chain.gas(signer.address)) < wei) {
    throw new SetupError('start_failed', `The wallet ${wallet} has too little ETH to deploy the splitter factory.`, {
      hint: `to send it ${formatEth(wei)} ETH on chain ${chain.parameters.chainId}, then the same command again`
    })
  }
  if (wei !== undefined && !(await confirm({ wei, wallet }))) return undefined
  const { transaction } = await deploySplitters({ chain, clock: systemClock, treasury, signer })
  return {
    costWei: transaction?.receipt.cost ?? 0n,
    ...(transaction === undefined ? {} : { transaction: transaction.hash })
  }
}

/** Rounded up, with eight decimals. */
export function formatEth(wei: bigint): string {
  const units = (wei + 9_999_999_999n) / 10_000_000_000n
  const digits = units.toString().padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '')
}

/** A profile belongs to one network for good. */
async function checkUnbound(profile: ProfileLocation, network: string): Promise<void> {
  const saved = (await readProfileJson(profile, 'settings')) as { network?: string } | undefined
  const [bound, wallet] = [saved?.network, (await walletInfo(profile))?.network]
  if (bound === network) {
    throw new SetupError('profile_exists', `The network ${network} exists already.`, {
      hint: 'souk network sign, for a new revision of its file'
    })
  }
  const other = bound ?? (wallet === network ? undefined : wallet)
  if (other === undefined) return
  throw new SetupError('profile_exists', `The profile "${profile.name}" belongs to the network ${other}.`, {
    hint: 'a new profile: souk --profile <name> network create …'
  })
}

async function walletOf(
  { profile, passphrase: given }: CreateNetworkInit,
  network: string,
  isPlay: boolean
): Promise<Signer> {
  const source = given ?? (isPlay ? await generatePassphrase(profile) : undefined)
  if (source === undefined) {
    throw new SetupError('config_invalid', 'The wallet of the founder needs a passphrase of yours.', {
      hint: '--passphrase-file <file>, a file that only you can read'
    })
  }
  const isThere = (await walletInfo(profile)) !== undefined
  const passphrase = isThere ? await readPassphrase(source) : await choosePassphrase(source)
  if (!isThere) await createWallet(profile, network, passphrase)
  return openWallet(profile, network, passphrase)
}

/** @throws SetupError `config_invalid` */
export function addressOf(host: string, peer: string): string {
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return `/ip4/${host}/tcp/${P2P_PORT}/p2p/${peer}`
  if (host.includes(':')) return `/ip6/${host}/tcp/${P2P_PORT}/p2p/${peer}`
  if (/^[a-z0-9.-]+$/i.test(host)) return `/dns/${host}/tcp/${P2P_PORT}/p2p/${peer}`
  throw new SetupError('config_invalid', `"${host}" is not a host: give a name or an IP address.`)
}
