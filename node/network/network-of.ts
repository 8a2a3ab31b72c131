import { limits, sha256, utf8 } from '../../lib/index.ts'
import { type Network, NETWORKS } from '../networks.ts'
import { chainOf, isPlayChain } from './chain-rules.ts'
import type { NetworkFile } from './network-file-schema.ts'

/** The network that a file defines. Its name contains the founder’s id, so that two networks of one name never mix. */
export function networkOf(file: NetworkFile): Network {
  const isPlay = isPlayChain(file.chain.id)
  const name = networkNameOf(file)
  return {
    name,
    summary: `${file.name}, founded by ${file.founder}`,
    bootstrap: file.bootstrap,
    money: Object.values(NETWORKS).find(({ chain }) => chain.chainId === file.chain.id)?.money ?? 'play USDC',
    chain: chainOf(file.chain),
    privateAddresses: isPlay || file.lan,
    isPlay,
    file
  }
}

/** The name that peers use. */
export function networkNameOf({ name, founder }: Pick<NetworkFile, 'name' | 'founder'>): string {
  return `${name}-${founderTag(founder)}`
}

function founderTag(founder: string): string {
  return Buffer.from(sha256(utf8(founder)))
    .toString('hex')
    .slice(0, limits.FOUNDER_ID_CHARS)
}
