import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { type ProfileLocation, profileFile, secretOf } from './profile.ts'
import { SetupError } from '../setup-error.ts'

/** The key that names a profile's node, made the first time. @throws SetupError `profile_broken` */
export async function identityOf(profile: ProfileLocation): Promise<Ed25519PrivateKey> {
  const bytes = await secretOf(profile, 'identity', async () => privateKeyToProtobuf(await generateKeyPair('Ed25519')))
  try {
    const key = privateKeyFromProtobuf(bytes)
    if (key.type === 'Ed25519') return key
  } catch {
    // Said below: what the bytes are must not get into a message.
  }
  const path = profileFile(profile, 'identity')
  throw new SetupError('profile_broken', `${path} holds no Ed25519 key.`, { hint: 'restore it from a backup' })
}
