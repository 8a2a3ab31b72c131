import { generateKeyPair } from '@libp2p/crypto/keys'
import { systemClock } from '../../../../lib/base/clock.ts'
import { signDelegation } from '../../../../lib/resolve/directory/delegation.ts'
import { createMemoryDirectory, MemoryDirectoryNetwork } from '../../../../lib/resolve/directory/memory-directory.ts'
import { directorySuite } from '../../../suites/directory.ts'
import { idOf } from '../fixtures.ts'

directorySuite('memory', {
  async open(size) {
    const network = new MemoryDirectoryNetwork()
    const keys = await Promise.all(Array.from({ length: size }, () => generateKeyPair('Ed25519')))
    return keys.map((privateKey) => ({
      directory: createMemoryDirectory({ network, privateKey, clock: systemClock }),
      privateKey,
      self: idOf(privateKey)
    }))
  },
  close: async () => {},
  delegate: (peer, provider) => signDelegation({ peer, expiresAt: Date.now() + 60_000 }, provider)
})
