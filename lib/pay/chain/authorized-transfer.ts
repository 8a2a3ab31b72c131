import { decodeEventLog, encodeEventTopics, hexToBigInt, numberToHex } from 'viem/utils'
import type { Hex } from '../../base/hex.ts'
import { LOG_BLOCKS_MAX, LOG_READS_MAX } from '../../base/limits/pay.ts'
import type { AuthorizedTransfer } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'
import type { Rpc } from './rpc.ts'
import { hexOf, type Log, logsOf, timeOf } from './rpc-results.ts'

/** EIP-3009 and ERC-20 events. FiatToken emits `Transfer` directly after `AuthorizationUsed`. */
const EVENTS = [
  {
    type: 'event',
    name: 'AuthorizationUsed',
    inputs: [
      { name: 'authorizer', type: 'address', indexed: true },
      { name: 'nonce', type: 'bytes32', indexed: true }
    ]
  },
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false }
    ]
  }
] as const

/**
 * Finds the transfer that used an authorisation, whichever account sent the transaction. Reads the logs backwards from the head,
 * in ranges that public endpoints allow, until a block is older than `sinceMs`.
 */
export async function authorizedTransfer(
  rpc: Rpc,
  usdc: Address,
  { payer, nonce, sinceMs }: { readonly payer: Address; readonly nonce: Hex; readonly sinceMs: number }
): Promise<AuthorizedTransfer | undefined> {
  const topics = encodeEventTopics({ abi: EVENTS, eventName: 'AuthorizationUsed', args: { authorizer: payer, nonce } })
  let to = hexToBigInt(hexOf(await rpc('eth_blockNumber', [])))
  for (let read = 0; read < LOG_READS_MAX; read++) {
    const from = to < LOG_BLOCKS_MAX ? 0n : to - LOG_BLOCKS_MAX + 1n
    const range = { address: usdc, fromBlock: numberToHex(from), toBlock: numberToHex(to), topics }
    const [used] = logsOf(await rpc('eth_getLogs', [range]))
    if (used !== undefined) return transferBehind(rpc, used, payer)
    if (from === 0n || (await timeOf(rpc, numberToHex(from))) < sinceMs) return undefined
    to = from - 1n
  }
  return undefined
}

async function transferBehind(rpc: Rpc, used: Log, payer: Address): Promise<AuthorizedTransfer | undefined> {
  const receipt = (await rpc('eth_getTransactionReceipt', [used.transactionHash])) as { logs?: unknown } | null
  const next = numberToHex(hexToBigInt(used.logIndex) + 1n)
  const log = logsOf(receipt?.logs ?? []).find(({ logIndex }) => hexToBigInt(logIndex) === BigInt(next))
  if (log === undefined || log.address.toLowerCase() !== used.address.toLowerCase()) return undefined
  const { eventName, args } = decodeEventLog({ abi: EVENTS, topics: log.topics, data: log.data })
  if (eventName !== 'Transfer' || args.from.toLowerCase() !== payer) return undefined
  const at = await timeOf(rpc, used.blockNumber)
  return { to: args.to.toLowerCase() as Address, value: args.value, hash: used.transactionHash, at }
}
