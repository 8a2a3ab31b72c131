import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address } from '../../lib/interface/index.ts'
import { openProfile } from '../../node/profile/profile.ts'
import { createWallet } from '../../node/wallet/wallet.ts'
import type { ChainBench } from './chain.ts'
import type { SoukHome } from './souk-home.ts'

const PASSPHRASE = 'correct horse battery staple'
/** A weak key derivation: what is tested is nodes, not scrypt. */
const QUICK = { n: 1_024 }

/** Wallets for the profiles of a home, all with one passphrase. */
export interface Wallets {
  /** What a node that pays and is paid is started with. */
  readonly flags: readonly string[]
  create(profile: string): Promise<Address>
}

export async function walletsIn({ directory }: SoukHome, { parameters }: ChainBench): Promise<Wallets> {
  const file = join(directory, 'passphrase')
  await writeFile(file, `${PASSPHRASE}\n`, { mode: 0o600 })
  return {
    flags: ['--till', 'channel', '--chain-rpc', parameters.rpcUrl, '--passphrase-file', file],
    async create(name) {
      const profile = { name, directory: join(directory, name) }
      await openProfile(profile)
      return (await createWallet(profile, 'dev', PASSPHRASE, QUICK)).address
    }
  }
}
