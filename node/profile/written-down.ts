import { rm } from 'node:fs/promises'
import { formatUsdc } from '../../lib/index.ts'
import { NETWORKS } from '../networks.ts'
import type { NodeConfig } from '../node-config.ts'
import { type ProfileLocation, profileFile, readProfileJson, type RunningInfo, writeProfileJson } from './profile.ts'
import type { NodeInfo } from '../node-info.ts'
import type { Settings } from '../settings.ts'

/**
 * Writes down what runs, for clients on this machine, and in `profile.json` the ports it got, so that the next start gets
 * the same where it can. A new profile also keeps the settings it was started with; later ones hold for one run.
 */
export async function rememberRunning(config: NodeConfig, info: NodeInfo, p2pPort: number): Promise<void> {
  const { profile } = config
  const saved = await readProfileJson(profile, 'settings')
  await writeProfileJson(profile, 'settings', { ...(saved ?? firstSettings(config)), ...portsOf(info), p2pPort })
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

/** The node stopped by itself: clients need not try to reach it. */
export async function forgetRunning(profile: ProfileLocation): Promise<void> {
  await rm(profileFile(profile, 'running'), { force: true })
}

function firstSettings({ network, chain, p2p, ingress, payments }: NodeConfig): Settings {
  const known = NETWORKS[network].chain
  const settings: Settings = {
    network,
    ...(chain.rpcUrl === known.rpcUrl ? {} : { chainRpc: chain.rpcUrl }),
    ...(chain.treasury === known.treasury ? {} : { treasury: chain.treasury }),
    p2pHost: p2p.host,
    announce: [...p2p.announce],
    bootstrap: [...p2p.bootstrap],
    ...paymentSettings(payments)
  }
  if (ingress === undefined) return { ...settings, ingress: false }
  return {
    ...settings,
    ingressHost: ingress.host,
    trustProxy: ingress.trustProxy,
    corsOrigin: [...ingress.corsOrigins],
    ...(ingress.tls === undefined ? {} : { tlsCert: ingress.tls.certFile, tlsKey: ingress.tls.keyFile })
  }
}

function paymentSettings({ till, passphraseFile, payout, dailyMax, settleOnStop }: NodeConfig['payments']): Settings {
  return {
    ...(till === 'channel' ? {} : { till }),
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
