import { systemRandom } from '../base/random.ts'
import { toHex } from '../base/hex.ts'

const EPOCH_BYTES = 8

/** Names one numbering of changes: who has seen another begins anew. */
export const newEpoch = (): string => toHex(systemRandom.fill(new Uint8Array(EPOCH_BYTES)))
