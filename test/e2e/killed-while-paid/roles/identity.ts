import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { PrivateKey } from '@libp2p/interface'
import { sha256, utf8 } from '../../../../lib/index.ts'

/** A role's secret, the same after a restart. For tests only. */
export const secretOf = (role: string): Uint8Array => sha256(utf8(`souk test ${role}`))

export const identityOf = (role: string): Promise<PrivateKey> =>
  generateKeyPairFromSeed('Ed25519', secretOf(`${role} on the network`))
