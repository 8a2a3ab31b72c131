import { createHmac, type KeyObject } from 'node:crypto'
import { boundedMap, limits } from '../../lib/index.ts'
import type { KeyHolder } from './verifier.ts'

/** The parts of a key’s holder that determine its pseudonym. */
export type Caller = Pick<KeyHolder, 'id' | 'account'>

/**
 * The pseudonym by which one provider knows an account, or an operator’s key with its rotations. All ingresses that share the secret
 * produce the same pseudonym, so limits and idempotency keys hold across them. Providers cannot link their pseudonyms of one account, and
 * nobody can forge one.
 */
export function createPseudonyms(secret: KeyObject): (holder: Caller, provider: string) => Uint8Array {
  const atHand = boundedMap<string, Uint8Array>(limits.PSEUDONYMS_CACHED_MAX)
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
