import type { Clock } from '../base/clock.ts'
import type { Documents } from '../interface/store.ts'

/** Document collection of a node's data about itself. */
export const NODE = 'node'
const EPOCH = 'epoch'

/**
 * The boot epoch of this process: the current time, but always above the previous epoch, even after the clock was set
 * back. A call sent to an earlier epoch is never run by this process.
 */
export async function nextEpoch(documents: Documents, clock: Clock): Promise<bigint> {
  const last = BigInt((await documents.get(NODE, EPOCH)) ?? 0)
  const now = BigInt(Math.floor(clock.now()))
  const epoch = now > last ? now : last + 1n
  await documents.put(NODE, EPOCH, epoch.toString())
  return epoch
}
