import { checksummed, systemClock } from '../lib/index.ts'
import { createChain, deploySplitters } from '../lib/pay/index.ts'
import type { NodeConfig } from './node-config.ts'
import { lockProfile } from './profile/profile-lock.ts'
import { openProfile, profileFile, readProfileJson, writeProfileJson } from './profile/profile.ts'
import { SetupError } from './setup-error.ts'
import { readPassphrase } from './wallet/passphrase.ts'
import { openWallet } from './wallet/wallet-file.ts'

const ALIVE_MS = 60_000

/** The result of founding a network. Addresses carry their checksum. */
export interface CreatedNetwork {
  readonly network: string
  readonly chain_id: number
  readonly treasury: string
  /** Every node of the network knows this treasury without configuration. */
  readonly treasury_known: boolean
  readonly splitter_factory: string
  /** Null if the factory existed before. */
  readonly transaction: string | null
  /** Cost in wei, as a decimal number; 0 if nothing was sent. */
  readonly cost_wei: string
}

/**
 * Deploys the splitter factory of a treasury on the network’s chain, verifies it, and writes the treasury into the profile. The profile’s
 * wallet only pays the gas.
 * @throws SetupError, SoukError `settlement_unavailable`
 */
export async function createNetwork(config: NodeConfig, passphraseFile: string | undefined): Promise<CreatedNetwork> {
  const { profile, network } = config
  const { treasury, chainId } = config.chain
  if (treasury === undefined) {
    throw new SetupError('config_invalid', `No treasury is set for the 5% fee of the network ${network.name}.`, {
      hint: 'souk network deploy --treasury <address>'
    })
  }
  await openProfile(profile)
  const lock = lockProfile(profileFile(profile, 'lock'), profile.name)
  // Keep the process alive while it waits for a transaction: the clock’s timers do not.
  const alive = setInterval(() => undefined, ALIVE_MS)
  try {
    const passphrase = await readPassphrase(passphraseFile === undefined ? {} : { file: passphraseFile })
    const signer = await openWallet(profile, network.name, passphrase)
    const chain = createChain(config.chain)
    const { factory, transaction } = await deploySplitters({ chain, clock: systemClock, treasury, signer })
    await remember(config, treasury)
    return {
      network: network.name,
      chain_id: chainId,
      treasury: checksummed(treasury),
      treasury_known: network.chain.treasury !== undefined,
      splitter_factory: checksummed(factory.address),
      transaction: transaction?.hash ?? null,
      cost_wei: String(transaction?.receipt.cost ?? 0n)
    }
  } finally {
    clearInterval(alive)
    lock.release()
  }
}

async function remember({ profile, network }: NodeConfig, treasury: string): Promise<void> {
  const saved = await readProfileJson(profile, 'settings')
  await writeProfileJson(profile, 'settings', { network: network.name, ...(saved as object | undefined), treasury })
}
