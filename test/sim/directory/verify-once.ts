import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Ed25519PublicKey } from '@libp2p/interface'
import { LRUCache } from 'lru-cache'

const SIGNATURES_MAX = 50_000

/** Each simulated node verifies the same signatures. Real ones do that on as many machines, so one result serves all. */
export async function verifyOnce(): Promise<void> {
  const { publicKey } = await generateKeyPair('Ed25519')
  const keys = Object.getPrototypeOf(publicKey) as Ed25519PublicKey
  const { verify } = keys
  const known = new LRUCache<string, boolean | Promise<boolean>>({ max: SIGNATURES_MAX })
  keys.verify = function (this: Ed25519PublicKey, data, signature, options) {
    const id = [this.raw, signature, data.subarray()].map((part) => Buffer.from(part).toString('latin1')).join('')
    const result = known.get(id) ?? verify.call(this, data, signature, options)
    known.set(id, result)
    return result
  }
}
