import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '../../lib/interface/index.ts'
import { openProfile } from '../../node/profile/profile.ts'
import { createWallet } from '../../node/wallet/wallet-file.ts'
import type { ChainBench } from './chain.ts'
import type { SoukHome } from './souk-home.ts'

const PASSPHRASE = 'correct horse battery staple'
/** A weak key derivation, because scrypt is not under test. */
const QUICK = { n: 1_024 }

/** Wallets for the profiles of a home, with a common passphrase. */
export interface Wallets {
  /** The flags of a node that pays and is paid. */
  readonly flags: readonly string[]
  create(profile: string): Promise<Address>
}

export async function walletsIn({ directory }: SoukHome, { parameters }: ChainBench): Promise<Wallets> {
  const file = join(directory, 'passphrase')
  await writeFile(file, `${PASSPHRASE}\n`, { mode: 0o600 })
  return {
    flags: ['--payment-scheme', 'channel', '--chain-rpc', parameters.rpcUrl, '--passphrase-file', file],
    async create(name) {
      const profile = { name, directory: join(directory, name) }
      await openProfile(profile)
      return (await createWallet(profile, 'dev', PASSPHRASE, QUICK)).address
    }
  }
}
