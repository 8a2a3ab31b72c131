import { createHmac, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { limits } from '../../lib/index.ts'
import type { KeyHolder } from './verifier.ts'

/** What of a key's holder makes the name. */
export type Caller = Pick<KeyHolder, 'id' | 'account'>

/**
 * The name by which one provider knows one account of this ingress, or one key of the operator with all that come of it by rotation.
 * It is the same at every ingress that shares the secret, so that limits and idempotency keys hold at all of them together; no
 * two providers can tell by their names that they serve the same account, and nobody can make one up.
 */
export function createPseudonyms(secret: KeyObject): (holder: Caller, provider: string) => Uint8Array {
  const atHand = new LRUCache<string, Uint8Array>({ max: limits.PSEUDONYMS_CACHED_MAX })
  return ({ id, account }, provider) => {
    const whose = account === undefined ? `key ${id}` : `account ${account}`
    const of = `${provider} ${whose}`
    const known = atHand.get(of)
    if (known !== undefined) return known
    const digest = createHmac('sha256', secret).update(`souk consumer 1 ${of}`).digest()
    const name = Uint8Array.from(digest.subarray(0, limits.CONSUMER_BYTES))
    atHand.set(of, name)
    return name
  }
}
