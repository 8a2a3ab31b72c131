import { splitterFactory } from '../../lib/index.ts'
import type { ChainParameters, PinnedContract } from '../../lib/interface/index.ts'
import { NETWORKS } from '../networks.ts'
import { canonicalJson } from './canonical-json.ts'
import type { NetworkFile } from './network-file-schema.ts'

const ZERO_ADDRESS = `0x${'00'.repeat(20)}`

/** Ids of public chains with money of value. A play chain with such an id could collect signatures that are valid there. */
const REAL_CHAINS = [1, 10, 56, 100, 137, 250, 324, 8453, 42161, 43114, 42220, 59144, 534352]

/** The chain in a network file. */
type FileChain = NetworkFile['chain']

/** The built-in parameters of a chain: Base, Base Sepolia, or the play contracts on a chain of one’s own. */
export function builtInChain(chainId: number): ChainParameters {
  const known = Object.values(NETWORKS).find(({ chain }) => chain.chainId === chainId)
  return known?.chain ?? { ...NETWORKS.dev.chain, chainId }
}

/**
 * Why a network may not use this chain; undefined if it may. Money moves only through contracts that this release knows: a founder who
 * named others could take every deposit.
 */
export function chainProblem(chain: FileChain): string | undefined {
  const known = builtInChain(chain.id)
  if (isPlayChain(chain.id) && isRealChain(chain.id)) {
    return `chain ${chain.id} has real money, and this release knows no contracts there`
  }
  const differing = (['usdc', 'settlement', 'collector'] as const).find(
    (part) => canonicalJson(chain[part]) !== canonicalJson(partOf(known[part]))
  )
  if (differing !== undefined) {
    return `its ${differing} is not the one that this release knows for chain ${chain.id}`
  }
  if (chain.treasury === ZERO_ADDRESS) return 'its treasury is the zero address'
  const factory = splitterFactory(chain.treasury).address
  if (chain.splitter_factory !== factory) return `the splitter factory of its treasury is ${factory}`
  return undefined
}

/** A chain with our play contracts, on which money is worth nothing. */
export function isPlayChain(chainId: number): boolean {
  const { base, 'base-sepolia': sepolia } = NETWORKS
  return chainId !== base.chain.chainId && chainId !== sepolia.chain.chainId
}

export function isRealChain(chainId: number): boolean {
  return REAL_CHAINS.includes(chainId)
}

/** A chain as a network file has it. */
export function fileChain(parameters: ChainParameters, treasury: FileChain['treasury']): FileChain {
  const { chainId: id, rpcUrl: rpc, usdc, settlement, collector, confirmations } = parameters
  return {
    id,
    rpc,
    usdc,
    settlement: partOf(settlement),
    collector: partOf(collector),
    treasury,
    splitter_factory: splitterFactory(treasury).address,
    confirmations
  }
}

/** A chain as the payment code has it. */
export function chainOf({ id, rpc, usdc, settlement, collector, treasury, confirmations }: FileChain): ChainParameters {
  const { tipWei } = builtInChain(id)
  return {
    chainId: id,
    rpcUrl: rpc,
    usdc,
    settlement: { address: settlement.address, codeHash: settlement.code_hash },
    collector: { address: collector.address, codeHash: collector.code_hash },
    treasury,
    confirmations,
    ...(tipWei !== undefined && { tipWei })
  }
}

type FileContract = FileChain['settlement']

function partOf<Part extends PinnedContract | ChainParameters['usdc']>(
  part: Part
): Part extends PinnedContract ? FileContract : Part
function partOf(part: PinnedContract | ChainParameters['usdc']): object {
  return 'codeHash' in part ? { address: part.address, code_hash: part.codeHash } : part
}
