import { rm } from 'node:fs/promises'
import { type Atoms, formatUsdc } from '../../lib/index.ts'
import { createChain } from '../../lib/pay/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { locateProfile } from '../config.ts'
import { NETWORKS } from '../networks.ts'
import { readPrivateFile, writePrivateFile } from '../profile/private-file.ts'
import { lockProfile } from '../profile/profile-lock.ts'
import { openProfile, profileFile } from '../profile/profile.ts'
import { generatePassphrase, readPassphrase } from '../wallet/passphrase.ts'
import { createWallet } from '../wallet/wallet-file.ts'
import { faucet } from './chain/dev-chain.ts'

/** "provider" in ASCII: the payout address of the demo’s APIs. No key exists for it. */
export const DEMO_PAYOUT: Address = '0x70726f7669646572000000000000000000000001'
/** Start balance of the demo’s consumer: enough for thousands of calls. */
const POCKET_MONEY: Atoms = 10_000_000n
/** A cheap key derivation: the passphrase is stored beside the key, and the money is play money. */
const SCRYPT_N = 1_024

/**
 * Creates a profile anew, with a wallet. Its identity stays: other nodes know the demo’s nodes by it.
 * @throws SetupError `profile_in_use`: another demo is running
 */
export async function freshProfile(name: string, env: NodeJS.ProcessEnv): Promise<Address> {
  const profile = locateProfile(name, env)
  await openProfile(profile)
  const lock = lockProfile(profileFile(profile, 'lock'), name)
  const path = profileFile(profile, 'identity')
  let identity: Uint8Array | undefined
  try {
    identity = await readPrivateFile(path)
    await rm(profile.directory, { recursive: true })
  } finally {
    lock.release()
  }
  await openProfile(profile)
  if (identity !== undefined) await writePrivateFile(path, identity)
  const passphrase = await readPassphrase(await generatePassphrase(profile))
  return (await createWallet(profile, 'demo', passphrase, { n: SCRYPT_N })).address
}

/** Gives the owner gas to claim its earnings, and the consumer play USDC, plus gas in case it must withdraw from a channel itself. */
export async function fund(rpcUrl: string, owner: Address, consumer: Address): Promise<void> {
  const bank = faucet(rpcUrl)
  await Promise.all([bank.fundGas(owner), bank.fundGas(consumer)])
  await bank.mint(consumer, POCKET_MONEY)
}

/** Final balances on the chain, in decimal USDC. */
export interface DemoSettlement {
  readonly total: string
  readonly provider: string
  readonly platform: string
  /** Hashes of the settlement transactions. */
  readonly tx: readonly string[]
}

/** What the chain holds for both sides of the demo’s sales. */
export interface DemoBalances {
  readonly provider: Atoms
  readonly platform: Atoms
}

/** Only demos ever paid to these accounts. */
export async function balancesOn(rpcUrl: string): Promise<DemoBalances> {
  const parameters = { ...NETWORKS.dev.chain, rpcUrl }
  const chain = createChain(parameters)
  const balance = (account: Address | undefined) =>
    account === undefined ? Promise.resolve(0n) : chain.balance(account, 'latest')
  const [provider, platform] = await Promise.all([balance(DEMO_PAYOUT), balance(parameters.treasury)])
  return { provider, platform }
}

/** What this run of the demo earned: the chain keeps the earnings of earlier ones. */
export async function settlementOn(
  rpcUrl: string,
  before: DemoBalances,
  tx: readonly string[]
): Promise<DemoSettlement> {
  const after = await balancesOn(rpcUrl)
  const [provider, platform] = [after.provider - before.provider, after.platform - before.platform]
  return {
    total: formatUsdc(provider + platform),
    provider: formatUsdc(provider),
    platform: formatUsdc(platform),
    tx
  }
}
