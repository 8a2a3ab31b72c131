import { rm } from 'node:fs/promises'
import { formatUsdc } from '../../lib/index.ts'
import type { NodeConfig } from '../node-config.ts'
import {
  openProfile,
  type ProfileLocation,
  profileFile,
  readProfileJson,
  type RunningInfo,
  writeProfileJson
} from './profile.ts'
import type { Address } from '../../lib/interface/index.ts'
import { formatNetworkFile } from '../network/network-file.ts'
import type { Network } from '../networks.ts'
import { writePrivateFile } from './private-file.ts'
import type { NodeInfo } from '../node-info.ts'
import { present } from '../present.ts'
import { SetupError } from '../setup-error.ts'
import type { Settings } from '../settings.ts'

/**
 * Stores the node’s addresses for clients on this machine, and its ports in `profile.json`, so that the next start uses the same ones if
 * free. A new profile also stores its start settings. Settings of later starts apply to one run only.
 */
export async function rememberRunning(config: NodeConfig, info: NodeInfo, p2pPort: number): Promise<void> {
  const { profile } = config
  await rememberNetworkFile(profile, config.network)
  const saved = (await readProfileJson(profile, 'settings')) as Settings | undefined
  // A profile with a wallet or a network but no port has never started a node.
  const settings = saved?.p2pPort === undefined ? { ...saved, ...firstSettings(config) } : saved
  await writeProfileJson(profile, 'settings', { ...settings, ...portsOf(info), p2pPort })
  const running: RunningInfo = {
    pid: process.pid,
    peer: info.peer,
    network: info.network,
    admin: info.admin,
    p2p: info.p2p,
    ...(info.ingress === undefined ? {} : { ingress: info.ingress })
  }
  await writeProfileJson(profile, 'running', running)
}

/** Binds a profile to its network, when it first gets something that belongs to that network. */
export async function rememberNetwork(config: NodeConfig): Promise<void> {
  const { profile, network } = config
  const saved = await readProfileJson(profile, 'settings')
  if (saved !== undefined) return
  await rememberNetworkFile(profile, network)
  await writeProfileJson(profile, 'settings', chainSettings(config))
}

/** Stores the file that defines the profile’s network, and so pins its founder’s key. */
export async function rememberNetworkFile(profile: ProfileLocation, { file }: Network): Promise<void> {
  if (file !== undefined) await writePrivateFile(profileFile(profile, 'network'), formatNetworkFile(file))
}

/** Binds a founder’s profile to the new network. Earnings go to its wallet. */
export async function rememberFounded(profile: ProfileLocation, network: Network, payout: Address): Promise<void> {
  await rememberNetworkFile(profile, network)
  await writeProfileJson(profile, 'settings', { network: network.name, payout })
}

/** @throws SetupError `profile_exists` if a node has run on the profile, which then has its start settings */
export async function checkNeverStarted(profile: ProfileLocation): Promise<void> {
  const saved = (await readProfileJson(profile, 'settings')) as Settings | undefined
  if (saved?.p2pPort === undefined) return
  throw new SetupError('profile_exists', `The profile "${profile.name}" is set up already.`, {
    hint: 'souk up, or another profile: souk init --profile <name>'
  })
}

/** Stores the settings of a new profile before its first start. */
export async function rememberSetup(config: NodeConfig): Promise<void> {
  await openProfile(config.profile)
  await rememberNetworkFile(config.profile, config.network)
  await writeProfileJson(config.profile, 'settings', firstSettings(config))
}

/** Records that the node stopped cleanly, so that clients do not try to reach it. */
export async function forgetRunning(profile: ProfileLocation): Promise<void> {
  await rm(profileFile(profile, 'running'), { force: true })
}

function firstSettings({
  profile,
  network,
  networkUrl,
  chain,
  p2p,
  ingress,
  payments,
  store,
  accounts,
  selfService,
  demoKey
}: NodeConfig): Settings {
  const settings: Settings = {
    ...chainSettings({ network, chain, networkUrl }),
    p2pHost: p2p.host,
    relay: p2p.relay,
    mdns: p2p.mdns,
    portMapping: p2p.portMapping,
    announce: [...p2p.announce],
    bootstrap: [...p2p.bootstrap],
    ...paymentSettings(profile, payments),
    ...present({ store, accounts, selfService, demoKey: demoKey && [...demoKey] })
  }
  if (ingress === undefined) return { ...settings, ingress: false }
  return {
    ...settings,
    ingressHost: ingress.host,
    trustProxy: ingress.trustProxy,
    corsOrigin: [...ingress.corsOrigins],
    ...present({ x402: ingress.x402, tlsCert: ingress.tls?.certFile, tlsKey: ingress.tls?.keyFile })
  }
}

function chainSettings({ network, networkUrl, chain }: Pick<NodeConfig, 'network' | 'networkUrl' | 'chain'>): Settings {
  const known = network.chain
  return {
    network: network.name,
    ...(networkUrl === undefined ? {} : { networkUrl }),
    ...(chain.rpcUrl === known.rpcUrl ? {} : { chainRpc: chain.rpcUrl }),
    ...(chain.treasury === known.treasury ? {} : { treasury: chain.treasury })
  }
}

function paymentSettings(profile: ProfileLocation, payments: NodeConfig['payments']): Settings {
  const { paymentScheme, payout, dailyMax, settleOnStop, credit } = payments
  // A generated passphrase is found by its name, also after the profile moved.
  const isGenerated = payments.passphraseFile === profileFile(profile, 'passphrase')
  const passphraseFile = isGenerated ? undefined : payments.passphraseFile
  return {
    ...(paymentScheme === 'channel' ? {} : { till: paymentScheme }),
    ...present({ passphraseFile, payout, credit, dailyCap: dailyMax === undefined ? undefined : formatUsdc(dailyMax) }),
    ...(settleOnStop ? { settleOnStop } : {})
  }
}

function portsOf({ ingress, admin }: NodeInfo): Settings {
  return {
    adminPort: Number(new URL(admin).port),
    ...(ingress === undefined ? {} : { ingressPort: Number(new URL(ingress).port) })
  }
}
