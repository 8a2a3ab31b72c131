import { decodeFunctionData, encodeEventTopics, hexToBigInt, numberToHex } from 'viem/utils'
import { LOG_BLOCKS_MAX, LOG_READS_MAX } from '../../base/limits/pay.ts'
import type { Chain, ContractCall, SentTransfer } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'
import { usdcAbi } from '../contracts/contracts.generated.ts'
import type { Rpc } from './rpc.ts'
import { hexOf, logsOf, timeOf } from './rpc-results.ts'

/** The recipient of a USDC transfer. Undefined for any other call. */
export function recipientOf(usdc: Address, { to, data }: ContractCall): Address | undefined {
  if (to !== usdc) return undefined
  const { functionName, args } = decodeFunctionData({ abi: usdcAbi, data })
  return functionName === 'transfer' ? (args[0].toLowerCase() as Address) : undefined
}

/**
 * Finds a transaction by the log of its transfer. Reads the logs forwards from the block at `sinceMs`, in ranges that public
 * endpoints allow. @throws Error if it reads `LOG_READS_MAX` ranges and does not reach the head
 */
export async function sentTransfer(
  rpc: Rpc,
  usdc: Address,
  { from, to, hashes, sinceMs }: Parameters<Chain['sentTransfer']>[0]
): Promise<SentTransfer | undefined> {
  const topics = encodeEventTopics({ abi: usdcAbi, eventName: 'Transfer', args: { from, to } })
  const head = hexToBigInt(hexOf(await rpc('eth_blockNumber', [])))
  let first = await firstBlockAt(rpc, sinceMs, head)
  for (let read = 0; read < LOG_READS_MAX; read++) {
    const last = first + LOG_BLOCKS_MAX - 1n
    const range = {
      address: usdc,
      fromBlock: numberToHex(first),
      toBlock: numberToHex(last < head ? last : head),
      topics
    }
    const logs = logsOf(await rpc('eth_getLogs', [range]))
    const found = logs.find(({ transactionHash }) => hashes.includes(transactionHash))
    if (found !== undefined) {
      const { transactionHash, blockNumber, blockHash } = found
      return { hash: hexOf(transactionHash), blockNumber: hexToBigInt(hexOf(blockNumber)), blockHash: hexOf(blockHash) }
    }
    if (last >= head) return undefined
    first = last + 1n
  }
  throw new Error('too many blocks to search for a transfer')
}

/** The first block that is not older, or the head. */
async function firstBlockAt(rpc: Rpc, sinceMs: number, head: bigint): Promise<bigint> {
  let [low, high] = [0n, head]
  while (low < high) {
    const middle = (low + high) / 2n
    if ((await timeOf(rpc, numberToHex(middle))) < sinceMs) low = middle + 1n
    else high = middle
  }
  return low
}
