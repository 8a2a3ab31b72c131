import { reachabilityText } from '../lib/index.ts'
import type { Souk } from '../lib/interface/index.ts'
import type { NodeConfig } from './node-config.ts'
import { packageVersion } from './config.ts'

/** Addresses of a running node. */
export interface NodeInfo {
  readonly version: string
  readonly profile: string
  readonly peer: string
  readonly network: string
  /** Display name of the network’s currency. */
  readonly money: string
  /** URLs. `ingress` is undefined if the node has none. */
  readonly admin: string
  readonly ingress: string | undefined
  /** Multiaddrs, with the peer id. */
  readonly p2p: readonly string[]
  /** How peers reach the node, in words. */
  readonly reach: string
  /** The public demo key, if enabled. */
  readonly demoKey: string | undefined
  /** No peer was connected when the node became ready. */
  readonly alone: boolean
  /** Signs a browser in to the console. Created if no browser has signed in before. */
  readonly setupCode: string | undefined
}

/** The parts that only the composition root knows. */
type Places = Pick<NodeInfo, 'admin' | 'ingress' | 'demoKey' | 'setupCode'>

export function nodeInfo({ profile, network }: NodeConfig, souk: Souk, places: Places): NodeInfo {
  const { peer, addresses, alone, reachability } = souk.status()
  return {
    version: packageVersion(),
    profile: profile.name,
    peer,
    network: network.name,
    money: network.money,
    p2p: addresses,
    reach: reachabilityText(reachability).text,
    alone,
    ...places
  }
}
