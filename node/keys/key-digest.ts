import { createHmac, type KeyObject } from 'node:crypto'

/** The form in which a key is stored: HMAC-SHA-256 under a secret of the node, lower-case hex. */
export function keyDigest(pepper: KeyObject, key: string): string {
  return createHmac('sha256', pepper).update(key).digest('hex')
}
