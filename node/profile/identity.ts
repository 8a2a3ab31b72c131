import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { type ProfileLocation, profileFile, secretOf } from './profile.ts'
import { SetupError } from '../setup-error.ts'

/** The private key of a profile’s node, created on first use. @throws SetupError `profile_broken` */
export async function identityOf(profile: ProfileLocation): Promise<Ed25519PrivateKey> {
  const bytes = await secretOf(profile, 'identity', async () => privateKeyToProtobuf(await generateKeyPair('Ed25519')))
  try {
    const key = privateKeyFromProtobuf(bytes)
    if (key.type === 'Ed25519') return key
  } catch {
    // Drop the cause: its message could contain bytes of the key.
  }
  const path = profileFile(profile, 'identity')
  throw new SetupError('profile_broken', `${path} contains no Ed25519 key.`, { hint: 'restore it from a backup' })
}
