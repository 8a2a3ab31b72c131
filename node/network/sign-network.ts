import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { identityOf } from '../profile/identity.ts'
import { rememberNetworkFile } from '../profile/saved-settings.ts'
import type { NodeConfig } from '../node-config.ts'
import { SetupError } from '../setup-error.ts'
import { addressOf } from './create-network.ts'
import { isNewer, keysOf, signHandover, signNetworkFile } from './network-file.ts'
import type { NetworkFile } from './network-file-schema.ts'
import { networkOf } from './network-of.ts'

/** What a new revision changes. The rest stays. */
export interface NetworkChanges {
  /** Replaces all bootstrap addresses. */
  readonly bootstrap?: readonly string[]
  /** Adds port 4402 of this host, as the address of this node. */
  readonly host?: string
  readonly rpc?: string
  readonly lan?: boolean
  /** Peer id of a key that may sign later revisions as well. */
  readonly successor?: string
}

/**
 * Signs a new revision of the profile’s network file, and keeps it in the profile. Its node may run.
 * @throws SetupError `config_invalid`, `network_invalid`
 */
export async function signRevision({ profile, network }: NodeConfig, changes: NetworkChanges): Promise<NetworkFile> {
  const old = network.file
  if (old === undefined) {
    throw new SetupError('config_invalid', `The network ${network.name} has no network file.`, {
      hint: 'souk network create, for a network of your own'
    })
  }
  const key = await identityOf(profile)
  const self = peerIdFromPrivateKey(key).toString()
  if (!keysOf(old).includes(self)) {
    throw new SetupError('config_invalid', `This node, ${self}, did not found the network ${network.name}.`, {
      hint: `ask its founder, ${old.founder}`
    })
  }
  const { format: _, signer: _signer, signature: _signature, ...terms } = old
  const { bootstrap = old.bootstrap, host, rpc = old.chain.rpc, lan = old.lan, successor } = changes
  const own = host === undefined ? [] : [addressOf(host, self)]
  const handovers = successor === undefined ? [] : [await signHandover(old, successor, key)]
  const file = await signNetworkFile(
    {
      ...terms,
      revision: old.revision + 1,
      handovers: [...old.handovers, ...handovers],
      chain: { ...old.chain, rpc },
      bootstrap: [...new Set([...bootstrap, ...own])],
      lan
    },
    key
  )
  isNewer(file, old)
  await rememberNetworkFile(profile, networkOf(file))
  return file
}
