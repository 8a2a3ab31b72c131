import { setTimeout as pause } from 'node:timers/promises'
import { encodeFunctionData, type Hex, numberToHex, pad, parseAbi } from 'viem'
import { CREATE2_DEPLOYER, splitterFactory } from '../../../lib/pay/index.ts'
import type { ChainParameters } from '../../../lib/interface/index.ts'
import {
  devBatchSettlementCode,
  devDepositCollectorCode,
  devMulticallCode,
  fiatTokenCode,
  fiatTokenLinks,
  fiatTokenProxyCode,
  signatureCheckerCode
} from './dev-contracts.generated.ts'
import { rpc } from './rpc.ts'

/** Mints and owns the play USDC. Anvil sends its transactions without a key. */
const BANKER = '0x62616e6b65720000000000000000000000000001'

/** The address at which standard x402 facilitators expect it. */
const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11'
const FIAT_TOKEN = '0x46696174546f6b656e0000000000000000000001'
const SIGNATURE_CHECKER = '0x46696174546f6b656e0000000000000000000002'
/** keccak256 of "org.zeppelinos.proxy.implementation" and "org.zeppelinos.proxy.admin": storage slots of USDC’s old proxy. */
const IMPLEMENTATION_SLOT = '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3'
const ADMIN_SLOT = '0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b'
/** The proxy’s admin cannot use the token, so this address belongs to no one. */
const ADMIN = '0x61646d696e000000000000000000000000000001'
const LOST_AND_FOUND = '0x6c6f737400000000000000000000000000000001'

const MINED_TRIES = 500
const MINED_PAUSE_MS = 10

const TOKEN_SETUP = parseAbi([
  'function initialize(string name, string symbol, string currency, uint8 decimals, address masterMinter, address pauser, address blacklister, address owner)',
  'function initializeV2(string name)',
  'function initializeV2_1(address lostAndFound)',
  'function initializeV2_2(address[] accountsToBlacklist, string symbol)',
  'function configureMinter(address minter, uint256 allowance)'
])

/** Installs all contracts that Souk needs on a dev chain, if they are missing. */
export async function placeContracts(url: string, parameters: ChainParameters): Promise<void> {
  const { settlement, collector, usdc, treasury } = parameters
  await rpc(url, 'anvil_setBalance', [BANKER, numberToHex(10n ** 24n)])
  if ((await rpc(url, 'eth_getCode', [usdc.address, 'latest'])) !== '0x') return
  const code: Array<[string, Hex]> = [
    [settlement.address, devBatchSettlementCode],
    [collector.address, devDepositCollectorCode],
    [MULTICALL, devMulticallCode],
    [SIGNATURE_CHECKER, signatureCheckerCode],
    [FIAT_TOKEN, linkedFiatToken()],
    [usdc.address, fiatTokenProxyCode]
  ]
  for (const [address, runtime] of code) await rpc(url, 'anvil_setCode', [address, runtime])
  await rpc(url, 'anvil_setStorageAt', [usdc.address, IMPLEMENTATION_SLOT, pad(FIAT_TOKEN)])
  await rpc(url, 'anvil_setStorageAt', [usdc.address, ADMIN_SLOT, pad(ADMIN)])
  for (const data of tokenSetup(usdc.name)) await asBanker(url, usdc.address, data)
  if (treasury !== undefined) {
    const { initCode } = splitterFactory(treasury)
    await asBanker(url, CREATE2_DEPLOYER, `0x${'00'.repeat(32)}${Buffer.from(initCode).toString('hex')}`)
  }
}

/**
 * Sends a transaction of the banker, mined at once.
 * @throws Error if it reverts
 */
export async function asBanker(url: string, to: string, data: Hex): Promise<void> {
  await rpc(url, 'anvil_impersonateAccount', [BANKER])
  const hash = await rpc(url, 'eth_sendTransaction', [{ from: BANKER, to, data, gas: numberToHex(8_000_000) }])
  await rpc(url, 'evm_mine')
  const { status } = await receiptOf(url, hash)
  if (status !== '0x1') throw new Error(`The dev chain refused a transaction to ${to}.`)
}

/** With one block per transaction, the block may not be ready yet, so this retries. */
async function receiptOf(url: string, hash: unknown): Promise<{ status: string }> {
  for (let tries = 0; tries < MINED_TRIES; tries++) {
    const receipt = await rpc(url, 'eth_getTransactionReceipt', [hash])
    if (receipt !== null) return receipt as { status: string }
    await pause(MINED_PAUSE_MS)
  }
  throw new Error('The dev chain does not mine.')
}

function tokenSetup(name: string): Hex[] {
  const [abi, symbol] = [TOKEN_SETUP, 'USDC']
  const first = [name, symbol, 'USD', 6, BANKER, BANKER, BANKER, BANKER] as const
  return [
    encodeFunctionData({ abi, functionName: 'initialize', args: first }),
    encodeFunctionData({ abi, functionName: 'initializeV2', args: [name] }),
    encodeFunctionData({ abi, functionName: 'initializeV2_1', args: [LOST_AND_FOUND] }),
    encodeFunctionData({ abi, functionName: 'initializeV2_2', args: [[], symbol] }),
    encodeFunctionData({ abi, functionName: 'configureMinter', args: [BANKER, 2n ** 256n - 1n] })
  ]
}

function linkedFiatToken(): Hex {
  const runtime = Buffer.from(fiatTokenCode.slice(2), 'hex')
  for (const at of fiatTokenLinks) runtime.write(SIGNATURE_CHECKER.slice(2), at, 'hex')
  return `0x${runtime.toString('hex')}`
}
