import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { Random } from '../../lib/interface/index.ts'

/** What signs for one webhook: a secret that both sides know, and a key of which the other side knows the public half. */
export interface WebhookSecrets {
  /** 32 bytes each, base64. */
  readonly hmac: string
  readonly ed25519: string
}

/** How the other side is told of them. */
export interface ShownSecrets {
  /** `whsec_` and base64. */
  readonly secret: string
  /** `whpk_` and base64: no secret. */
  readonly public_key: string
}

const SECRET_BYTES = 32
/** RFC 8410: what stands before the 32 bytes of an Ed25519 private key in PKCS #8, and how long it is before a public one in SPKI. */
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
 * The headers of Standard Webhooks 1.0: `webhook-signature` holds `v1` (HMAC-SHA256) and `v1a` (Ed25519) over `id.timestamp.payload`, for each
 * of the secrets that are good at the moment.
 *
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
