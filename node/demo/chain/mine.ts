import { setTimeout as pause } from 'node:timers/promises'
import { rpc } from './rpc.ts'

const BLOCK_MS = 1_000
/** Pause between blocks without transactions. Each block stays in anvil’s memory and in the chain’s file, for days. */
const IDLE_MS = 10_000
/** Blocks after the last transaction, so that it is final. */
const FINAL_BLOCKS = 4

/** Mines a block per second while transactions wait or are not final yet, otherwise one per `IDLE_MS`, until the signal aborts. */
export async function mine(url: string, signal: AbortSignal): Promise<void> {
  /** The number of the block that was mined last. */
  let head: bigint | undefined
  let blocks = FINAL_BLOCKS
  let idleMs = 0
  const next = async () => {
    const [pool, number] = await Promise.all([rpc(url, 'txpool_status'), rpc(url, 'eth_blockNumber')])
    const { pending } = pool as { readonly pending: string }
    const found = BigInt(String(number))
    // Another head: the faucet has mined a transaction.
    if (pending !== '0x0' || found !== head) blocks = FINAL_BLOCKS
    if (blocks <= 0 && idleMs < IDLE_MS) return
    await rpc(url, 'evm_mine')
    head = found + 1n
    blocks--
    idleMs = 0
  }
  while (!signal.aborted) {
    // A failed request is sent again in the next round.
    await next().catch(() => undefined)
    await pause(BLOCK_MS, undefined, { signal, ref: false }).catch(() => undefined)
    idleMs += BLOCK_MS
  }
}
