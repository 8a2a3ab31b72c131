import { rm } from 'node:fs/promises'
import { formatUsdc } from '../../lib/index.ts'
import { NETWORKS } from '../networks.ts'
import type { NodeConfig } from '../node-config.ts'
import {
  openProfile,
  type ProfileLocation,
  profileFile,
  readProfileJson,
  type RunningInfo,
  writeProfileJson
} from './profile.ts'
import type { NodeInfo } from '../node-info.ts'
import { SetupError } from '../setup-error.ts'
import type { Settings } from '../settings.ts'

/**
 * Writes down what runs, for clients on this machine, and in `profile.json` the ports it got, so that the next start gets
 * the same where it can. A new profile also keeps the settings it was started with; later ones hold for one run.
 */
export async function rememberRunning(config: NodeConfig, info: NodeInfo, p2pPort: number): Promise<void> {
  const { profile } = config
  const saved = (await readProfileJson(profile, 'settings')) as Settings | undefined
  // What made a wallet or founded a network before has started no node.
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

/** A profile that gets something which belongs to a network belongs there itself from then on. */
export async function rememberNetwork({ profile, network, chain }: NodeConfig): Promise<void> {
  const saved = await readProfileJson(profile, 'settings')
  if (saved === undefined) await writeProfileJson(profile, 'settings', chainSettings({ network, chain }))
}

/** @throws SetupError `profile_exists` where a node has run on it: it remembers how it was started. */
export async function checkNeverStarted(profile: ProfileLocation): Promise<void> {
  const saved = (await readProfileJson(profile, 'settings')) as Settings | undefined
  if (saved?.p2pPort === undefined) return
  throw new SetupError('profile_exists', `The profile "${profile.name}" is set up already.`, {
    hint: 'souk up, or another profile: souk init --profile <name>'
  })
}

/** What a new profile is started with the first time, and from then on. */
export async function rememberSetup(config: NodeConfig): Promise<void> {
  await openProfile(config.profile)
  await writeProfileJson(config.profile, 'settings', firstSettings(config))
}

/** The node stopped by itself: clients need not try to reach it. */
export async function forgetRunning(profile: ProfileLocation): Promise<void> {
  await rm(profileFile(profile, 'running'), { force: true })
}

function firstSettings({
  network,
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
    ...chainSettings({ network, chain }),
    p2pHost: p2p.host,
    announce: [...p2p.announce],
    bootstrap: [...p2p.bootstrap],
    ...paymentSettings(payments),
    ...(store === undefined ? {} : { store }),
    ...(accounts === undefined ? {} : { accounts }),
    ...(selfService === undefined ? {} : { selfService }),
    ...(demoKey === undefined ? {} : { demoKey: [...demoKey] })
  }
  if (ingress === undefined) return { ...settings, ingress: false }
  return {
    ...settings,
    ingressHost: ingress.host,
    trustProxy: ingress.trustProxy,
    corsOrigin: [...ingress.corsOrigins],
    ...(ingress.x402 === undefined ? {} : { x402: ingress.x402 }),
    ...(ingress.tls === undefined ? {} : { tlsCert: ingress.tls.certFile, tlsKey: ingress.tls.keyFile })
  }
}

function chainSettings({ network, chain }: Pick<NodeConfig, 'network' | 'chain'>): Settings {
  const known = NETWORKS[network].chain
  return {
    network,
    ...(chain.rpcUrl === known.rpcUrl ? {} : { chainRpc: chain.rpcUrl }),
    ...(chain.treasury === known.treasury ? {} : { treasury: chain.treasury })
  }
}

function paymentSettings({
  paymentScheme,
  passphraseFile,
  payout,
  dailyMax,
  settleOnStop
}: NodeConfig['payments']): Settings {
  return {
    ...(paymentScheme === 'channel' ? {} : { till: paymentScheme }),
    ...(passphraseFile === undefined ? {} : { passphraseFile }),
    ...(payout === undefined ? {} : { payout }),
    ...(dailyMax === undefined ? {} : { dailyCap: formatUsdc(dailyMax) }),
    ...(settleOnStop ? { settleOnStop } : {})
  }
}

function portsOf({ ingress, admin }: NodeInfo): Settings {
  return {
    adminPort: Number(new URL(admin).port),
    ...(ingress === undefined ? {} : { ingressPort: Number(new URL(ingress).port) })
  }
}
