import { isHex } from 'viem/utils'
import type { Hex } from '../../base/hex.ts'
import type { Rpc } from './rpc.ts'

/** An event of a mined transaction. */
export interface Log {
  readonly address: Hex
  readonly topics: [Hex, ...Hex[]]
  readonly data: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly logIndex: Hex
  readonly transactionHash: Hex
}

export function hexOf(value: unknown): Hex {
  if (!isHex(value)) throw new Error('the endpoint did not return hex')
  return value
}

export function logsOf(value: unknown): Log[] {
  if (!Array.isArray(value)) throw new Error('the endpoint did not return a list of logs')
  return value as Log[]
}

/** The time of a block, in Unix milliseconds. */
export async function timeOf(rpc: Rpc, block: Hex): Promise<number> {
  const found = (await rpc('eth_getBlockByNumber', [block, false])) as { timestamp?: unknown } | null
  return Number(hexOf(found?.timestamp)) * 1_000
}
