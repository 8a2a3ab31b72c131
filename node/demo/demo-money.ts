import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { type Atoms, formatUsdc } from '../../lib/index.ts'
import { createChain } from '../../lib/pay/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { locateProfile } from '../config.ts'
import { NETWORKS } from '../networks.ts'
import { writePrivateFile } from '../profile/private-file.ts'
import { lockProfile } from '../profile/profile-lock.ts'
import { openProfile, profileFile } from '../profile/profile.ts'
import { createWallet } from '../wallet/wallet-file.ts'
import { faucet } from './chain/dev-chain.ts'

/** "provider" in ASCII: where the demo's APIs are paid. A cold address, as it should be: nobody has its key. */
export const DEMO_PAYOUT: Address = '0x70726f7669646572000000000000000000000001'
/** What the demo's consumer starts with: thousands of calls. */
const POCKET_MONEY: Atoms = 10_000_000n
/** The passphrase lies beside the key, and the money is for play: deriving a key for long would protect nothing. */
const SCRYPT_N = 1_024

/** A profile of the demo with a wallet, new. */
export interface DemoWallet {
  readonly address: Address
  readonly passphraseFile: string
}

/**
 * Makes a profile anew. Play money lives as long as the demo's chain, which ends with the demo: books of an earlier one
 * would speak of channels that are gone.
 * @throws SetupError `profile_in_use`: another demo is running
 */
export async function freshProfile(name: string, env: NodeJS.ProcessEnv): Promise<DemoWallet> {
  const profile = locateProfile(name, env)
  await openProfile(profile)
  const lock = lockProfile(profileFile(profile, 'lock'), name)
  try {
    await rm(profile.directory, { recursive: true })
  } finally {
    lock.release()
  }
  await openProfile(profile)
  const passphraseFile = join(profile.directory, 'passphrase')
  const passphrase = randomBytes(24).toString('base64url')
  await writePrivateFile(passphraseFile, passphrase)
  const { address } = await createWallet(profile, 'dev', passphrase, { n: SCRYPT_N })
  return { address, passphraseFile }
}

/** The owner gets gas, to fetch what it earns; the consumer play USDC, and gas should it ever have to leave an owner alone. */
export async function fund(rpcUrl: string, owner: Address, consumer: Address): Promise<void> {
  const bank = faucet(rpcUrl)
  await Promise.all([bank.fundGas(owner), bank.fundGas(consumer)])
  await bank.mint(consumer, POCKET_MONEY)
}

/** Who got what, as the chain says; decimal USDC. */
export interface DemoSettlement {
  readonly total: string
  readonly provider: string
  readonly platform: string
  /** Hashes of the transactions that brought it there. */
  readonly tx: readonly string[]
}

/** Reads the balances back from the chain: nothing but the demo was ever paid to these accounts. */
export async function settlementOn(rpcUrl: string, tx: readonly string[]): Promise<DemoSettlement> {
  const parameters = { ...NETWORKS.dev.chain, rpcUrl }
  const chain = createChain(parameters)
  const balance = (account: Address | undefined) =>
    account === undefined ? Promise.resolve(0n) : chain.balance(account, 'latest')
  const [provider, platform] = await Promise.all([balance(DEMO_PAYOUT), balance(parameters.treasury)])
  return {
    total: formatUsdc(provider + platform),
    provider: formatUsdc(provider),
    platform: formatUsdc(platform),
    tx
  }
}
