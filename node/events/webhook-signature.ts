import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { Random } from '../../lib/interface/index.ts'

/** The signing secrets of one webhook: a shared HMAC secret, and an Ed25519 private key whose public half the receiver knows. */
export interface WebhookSecrets {
  /** 32 bytes each, base64. */
  readonly hmac: string
  readonly ed25519: string
}

/** The secrets as shown to the user. */
export interface ShownSecrets {
  /** `whsec_` and base64. */
  readonly secret: string
  /** `whpk_` and base64; not a secret. */
  readonly public_key: string
}

const SECRET_BYTES = 32
/** RFC 8410: the prefix of a 32-byte Ed25519 private key in PKCS #8, and the length of the prefix of a public key in SPKI. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const SPKI_HEAD_BYTES = 12

export function makeSecrets(random: Random): WebhookSecrets {
  const fresh = () => Buffer.from(random.fill(new Uint8Array(SECRET_BYTES))).toString('base64')
  return { hmac: fresh(), ed25519: fresh() }
}

export function shownSecrets({ hmac, ed25519 }: WebhookSecrets): ShownSecrets {
  const spki = createPublicKey(privateKey(ed25519)).export({ format: 'der', type: 'spki' })
  return { secret: `whsec_${hmac}`, public_key: `whpk_${spki.subarray(SPKI_HEAD_BYTES).toString('base64')}` }
}

/**
 * The headers of Standard Webhooks 1.0. `webhook-signature` has `v1` (HMAC-SHA256) and `v1a` (Ed25519) over `id.timestamp.payload`, for
 * each valid secret.
 * @param at - seconds since the epoch
 */
export function signedHeaders(
  id: string,
  at: number,
  payload: string,
  secrets: readonly WebhookSecrets[]
): ReadonlyArray<readonly [string, string]> {
  const content = Buffer.from(`${id}.${at}.${payload}`)
  const signatures = secrets.flatMap(({ hmac, ed25519 }) => [
    `v1,${createHmac('sha256', Buffer.from(hmac, 'base64')).update(content).digest('base64')}`,
    `v1a,${sign(null, content, privateKey(ed25519)).toString('base64')}`
  ])
  return [
    ['webhook-id', id],
    ['webhook-timestamp', String(at)],
    ['webhook-signature', signatures.join(' ')]
  ]
}

function privateKey(seed: string) {
  return createPrivateKey({
    key: Buffer.concat([PKCS8_HEAD, Buffer.from(seed, 'base64')]),
    format: 'der',
    type: 'pkcs8'
  })
}
