import { addressIn } from '../address-in.ts'
import type { Address } from '../../lib/interface/index.ts'
import { createChain, verifySplitters } from '../../lib/pay/index.ts'
import type { NodeConfig } from '../node-config.ts'
import type { Network } from '../networks.ts'
import { SetupError } from '../setup-error.ts'
import { formatEth } from './create-network.ts'
import { invalidText } from '../../protocols/invalid-text.ts'
import { formatInvitation, readInvitation } from './invitation.ts'
import { networkFileSchema } from './network-file-schema.ts'

export { createNetwork } from './create-network.ts'
export { readInvitation } from './invitation.ts'
export { formatNetworkFile } from './network-file.ts'
export { signRevision } from './sign-network.ts'

/** @throws SetupError `config_invalid` */
export function checkNetworkName(name: string): void {
  const { error } = networkFileSchema.shape.name.safeParse(name, { error: invalidText })
  if (error !== undefined) throw new SetupError('config_invalid', `--name is not valid: ${error.issues[0]?.message}.`)
}

/** @throws SetupError `config_invalid` */
export function checkBootstrap(addresses: readonly string[]): void {
  const wrong = addresses.find((address) => !networkFileSchema.shape.bootstrap.safeParse([address]).success)
  if (wrong === undefined) return
  throw new SetupError('config_invalid', `--bootstrap "${wrong}" is not the address of a peer.`, {
    hint: '--bootstrap /dns/peer.example/tcp/4402/p2p/12D3KooW…'
  })
}

/** @throws SetupError `config_invalid` */
export function parseTreasury(text: string): Address {
  return addressIn('treasury', text)
}

/** The network at a place, or the one of the profile. */
export async function networkAt(place: string | undefined, profile: () => Promise<NodeConfig>): Promise<Network> {
  return place === undefined ? (await profile()).network : (await readInvitation(place)).network
}

/** A network for people and scripts: members with one value, or with a list. */
export type NetworkView = Readonly<Record<string, string | number | boolean | null | readonly string[]>>

export function networkView({ name, money, chain, bootstrap, file }: Network): NetworkView {
  return {
    network: name,
    money,
    chain_id: chain.chainId,
    chain_rpc: chain.rpcUrl,
    treasury: chain.treasury ?? null,
    bootstrap,
    ...(file === undefined
      ? {}
      : {
          revision: file.revision,
          founder: file.founder,
          signer: file.signer,
          successors: file.handovers.map(({ to }) => to),
          lan: file.lan
        })
  }
}

/** Checks the contracts on the chain. @throws SoukError `settlement_unavailable` */
export async function checkNetwork({ chain: parameters }: Network): Promise<void> {
  const chain = createChain(parameters)
  await chain.verify()
  if (parameters.treasury !== undefined) await verifySplitters(chain, parameters.treasury)
}

/** One line by which others join. @throws SetupError `config_invalid` */
export function invite(config: NodeConfig, running: readonly string[], url: string | undefined): string {
  const { network } = config
  if (network.file === undefined) {
    throw new SetupError('config_invalid', `The network ${network.name} is built in, so it needs no invitation.`, {
      hint: `souk init --network ${network.name}, on the other machine`
    })
  }
  const published = url ?? config.networkUrl
  return formatInvitation(network.file, { peers: running, ...(published === undefined ? {} : { url: published }) })
}

/** In ETH, and in dollars if the price of ETH is given: a chain does not know it. */
export function costText(wei: bigint, ethPrice: string | undefined): string {
  const eth = `${formatEth(wei)} ETH`
  if (ethPrice === undefined) return `${eth} (for dollars, give --eth-price)`
  const dollars = (Number(wei) / 1e18) * Number(ethPrice)
  return `${eth}, about $${dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2)}`
}
