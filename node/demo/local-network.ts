import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { homeDirectory, locateProfile } from '../config.ts'
import { fileChain } from '../network/chain-rules.ts'
import { type LocalNetwork, writeLocalNetwork } from '../network/local-network.ts'
import { signNetworkFile } from '../network/network-file.ts'
import { NETWORKS } from '../networks.ts'
import { identityOf } from '../profile/identity.ts'
import { openProfile } from '../profile/profile.ts'
import { SetupError } from '../setup-error.ts'
import type { Environment } from '../settings.ts'

export interface PublishInit {
  readonly name: LocalNetwork
  readonly env: Environment
  /** Profile of the first node. Its key signs the file. */
  readonly bootstrapProfile: string
  /** JSON-RPC endpoint of the play chain. */
  readonly rpcUrl: string
  /** Multiaddrs of the first node; empty before it runs. */
  readonly bootstrap: readonly string[]
}

/** Writes the file by which profiles on this machine join a network that runs on it. */
export async function publishLocalNetwork({ name, env, ...init }: PublishInit): Promise<void> {
  const profile = locateProfile(init.bootstrapProfile, env)
  await openProfile(profile)
  const key = await identityOf(profile)
  const { chain } = NETWORKS.dev
  if (chain.treasury === undefined) throw new SetupError('start_failed', 'The play chain has no treasury.')
  const file = await signNetworkFile(
    {
      name,
      // Nobody pins this file: the machine’s own user wrote it.
      revision: 1,
      founder: peerIdFromPrivateKey(key).toString(),
      handovers: [],
      chain: fileChain({ ...chain, rpcUrl: init.rpcUrl }, chain.treasury),
      bootstrap: [...init.bootstrap],
      lan: true
    },
    key
  )
  await writeLocalNetwork(homeDirectory(env), name, file)
}
