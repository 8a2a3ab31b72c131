import { join } from 'node:path'
import { parseUsdc } from '../../lib/index.ts'
import { addressIn } from '../address-in.ts'
import { homeDirectory } from '../config.ts'
import { NETWORKS } from '../networks.ts'
import { makeDirectory } from '../profile/private-file.ts'
import { SetupError } from '../setup-error.ts'
import type { Environment } from '../settings.ts'
import { faucet, startDevChain } from './chain/dev-chain.ts'

/** A running chain for the network `dev`. */
export interface PlayChain {
  readonly url: string
  readonly chainId: number
  /** File that keeps the chain between runs. */
  readonly stateFile: string
  close(): Promise<void>
}

/** Starts the chain from its saved state. A kill -9 loses the last seconds. */
export async function startPlayChain(port: number, env: Environment): Promise<PlayChain> {
  const home = homeDirectory(env)
  await makeDirectory(home)
  const stateFile = join(home, 'dev-chain.json')
  const chain = await startDevChain({ port, stateFile })
  return { url: chain.url, chainId: chain.parameters.chainId, stateFile, close: () => chain.close() }
}

/** Mints play USDC, and ETH for gas. @throws SetupError for an invalid address, `start_failed` without a chain */
export async function givePlayMoney(address: string, usdc: string, rpcUrl = NETWORKS.dev.chain.rpcUrl): Promise<void> {
  const account = addressIn('wallet', address)
  const amount = parseUsdc(usdc)
  const bank = faucet(rpcUrl)
  try {
    await bank.mint(account, amount)
    await bank.fundGas(account)
  } catch (cause) {
    throw new SetupError('start_failed', `No play chain gives money at ${rpcUrl}.`, {
      hint: 'souk dev, in another terminal; or --chain-rpc <url>, which souk dev prints',
      cause
    })
  }
}
