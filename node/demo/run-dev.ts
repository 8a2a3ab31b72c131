import { startOnFreePort } from '../http/listen.ts'
import type { PortPreference } from '../node-config.ts'
import type { Environment } from '../settings.ts'
import { startChild } from './child.ts'
import { holdNetwork } from './hold-network.ts'
import { publishLocalNetwork } from './local-network.ts'
import { startPlayChain } from './play-chain.ts'

const BOOTSTRAP = 'dev-bootstrap'
const HOST = '127.0.0.1'

/** The network `dev` on this machine: a chain, and a first node that others find each other by. */
export interface RunningDev {
  readonly url: string
  readonly chainId: number
  readonly stateFile: string
  readonly bootstrap: readonly string[]
  /** Resolves with the reason if the first node ends by itself. */
  readonly died: Promise<string>
  close(): Promise<void>
}

/** @throws SetupError `port_busy`, `config_invalid`, `start_failed`; `profile_in_use` if it runs already */
export async function startDev(chainPort: PortPreference, env: Environment): Promise<RunningDev> {
  await using parts = new AsyncDisposableStack()
  // First: two chains must not share one file.
  const held = await holdNetwork('dev', env)
  parts.defer(() => held.release())
  const chain = await startOnFreePort({ host: HOST, ...chainPort }, (port) => startPlayChain(port, env))
  parts.defer(() => chain.close())
  const publish = (bootstrap: readonly string[]) =>
    publishLocalNetwork({ name: 'dev', env, bootstrapProfile: BOOTSTRAP, rpcUrl: chain.url, bootstrap })
  await publish([])
  const args = ['up', '--profile', BOOTSTRAP, '--network', 'dev', '--no-input', '--json', '--no-ingress']
  const settings = ['--admin-port', '0', '--payment-scheme', 'metered']
  const node = await startChild({ name: BOOTSTRAP, module: '../main', args: [...args, ...settings], env: { ...env } })
  parts.defer(() => node.stop())
  const p2p = node.info['p2p']
  const bootstrap = Array.isArray(p2p) ? p2p.map(String) : []
  await publish(bootstrap)
  const running = parts.move()
  const { url, chainId, stateFile } = chain
  return { url, chainId, stateFile, bootstrap, died: node.died, close: () => running.disposeAsync() }
}
