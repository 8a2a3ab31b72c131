import type { Souk } from '../lib/interface/index.ts'
import { NETWORKS } from './networks.ts'
import type { NodeConfig } from './node-config.ts'
import { packageVersion } from './config.ts'

/** Where a running node is reached. */
export interface NodeInfo {
  readonly version: string
  readonly profile: string
  readonly peer: string
  readonly network: string
  /** What money is called there. */
  readonly money: string
  /** URLs; no ingress on a node that only serves. */
  readonly admin: string
  readonly ingress: string | undefined
  /** Multiaddrs, with the peer id. */
  readonly p2p: readonly string[]
  /** The public demo key, where there is one. */
  readonly demoKey: string | undefined
  /** No peer was connected yet when it was ready. */
  readonly alone: boolean
  /** Lets a browser into the console; made where none was let in before. */
  readonly setupCode: string | undefined
}

/** What only the composition root knows. */
type Places = Pick<NodeInfo, 'admin' | 'ingress' | 'demoKey' | 'setupCode'>

export function nodeInfo({ profile, network }: NodeConfig, souk: Souk, places: Places): NodeInfo {
  const { peer, addresses, alone } = souk.status()
  return {
    version: packageVersion(),
    profile: profile.name,
    peer,
    network,
    money: NETWORKS[network].money,
    p2p: addresses,
    alone,
    ...places
  }
}
