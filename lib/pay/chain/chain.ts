import {
  decodeErrorResult,
  decodeFunctionResult,
  encodeFunctionData,
  hexToBigInt,
  isHex,
  numberToHex
} from 'viem/utils'
import type { Hex } from '../../base/hex.ts'
import { CHANNELS_PER_READ_MAX, REVERT_CHARS_MAX } from '../../base/limits/chain.ts'
import type {
  Block,
  BlockTag,
  Broadcast,
  Chain,
  ChannelsAt,
  ChannelState,
  ContractCall,
  Receipt,
  Simulation,
  SplitterState
} from '../../interface/chain.ts'
import type { ChannelId } from '../../interface/channel.ts'
import type { ChainParameters } from '../../interface/network.ts'
import type { Address } from '../../interface/signer.ts'
import { batchSettlementAbi, splitterAbi, splitterFactoryAbi, usdcAbi } from '../contracts/contracts.generated.ts'
import { authorizedTransfer } from './authorized-transfer.ts'
import { asking, refusal, type Rpc, rpcOf } from './rpc.ts'
import { hexOf } from './rpc-results.ts'
import { sentTransfer } from './sent-transfer.ts'
import { checkChainId, verifyChain } from './verify-chain.ts'

/**
 * A chain over JSON-RPC. Stateless: it keeps no connection and no cache.
 *
 * @example
 * ```ts
 * import { NETWORKS } from 'souk/node'
 * import { createChain } from 'souk/pay'
 *
 * const chain = createChain({ ...NETWORKS.dev.chain, rpcUrl: 'http://127.0.0.1:8545' })
 * console.log(chain.parameters.chainId) // 31337
 * ```
 */
export function createChain(parameters: ChainParameters): Chain {
  const rpc = rpcOf(parameters.rpcUrl)
  const { settlement, usdc } = parameters
  const chain: Chain = {
    parameters,
    verify: () => verifyChain(chain),
    checkId: () => asking(async () => checkChainId(parameters, Number(hexOf(await rpc('eth_chainId', []))))),
    block: (at) => asking(() => blockAt(rpc, at)),
    channels: (ids, at) => asking(() => channelsAt(rpc, settlement.address, ids, at)),
    receiver: (address, at) =>
      asking(async () => {
        const args = [address, usdc.address] as const
        const call = encodeFunctionData({ abi: batchSettlementAbi, functionName: 'receivers', args })
        const data = await callAt(rpc, settlement.address, call, at)
        const [claimed, settled] = decodeFunctionResult({ abi: batchSettlementAbi, functionName: 'receivers', data })
        return { claimed, settled }
      }),
    splitter: (address, at) => asking(() => splitterAt(rpc, usdc.address, address, at)),
    balance: (account, at) =>
      asking(async () => {
        const call = encodeFunctionData({ abi: usdcAbi, functionName: 'balanceOf', args: [account] })
        const data = await callAt(rpc, usdc.address, call, at)
        return decodeFunctionResult({ abi: usdcAbi, functionName: 'balanceOf', data })
      }),
    gas: (account) => asking(async () => hexToBigInt(hexOf(await rpc('eth_getBalance', [account, 'latest'])))),
    authorizationUsed: (payer, nonce) =>
      asking(async () => {
        const call = encodeFunctionData({ abi: usdcAbi, functionName: 'authorizationState', args: [payer, nonce] })
        const data = await callAt(rpc, usdc.address, call, 'latest')
        return decodeFunctionResult({ abi: usdcAbi, functionName: 'authorizationState', data })
      }),
    authorizedTransfer: (payer, nonce, sinceMs) =>
      asking(() => authorizedTransfer(rpc, usdc.address, { payer, nonce, sinceMs })),
    sentTransfer: (query) => asking(() => sentTransfer(rpc, usdc.address, query)),
    nonce: (account, at) => asking(async () => Number(hexOf(await rpc('eth_getTransactionCount', [account, at])))),
    fees: () => asking(() => feesNow(rpc, parameters.tipWei)),
    simulate: (from, call) => asking(() => simulate(rpc, from, call)),
    broadcast: (transaction) => asking(() => broadcast(rpc, transaction)),
    receipt: (hash) => asking(() => receiptOf(rpc, hash)),
    read: (call) => asking(() => read(rpc, call)),
    code: (address) => asking(async () => hexOf(await rpc('eth_getCode', [address, 'latest'])))
  }
  return chain
}

async function blockAt(rpc: Rpc, at: BlockTag | bigint): Promise<Block | undefined> {
  const answer = await rpc('eth_getBlockByNumber', [typeof at === 'bigint' ? numberToHex(at) : at, false])
  if (answer === null) return undefined
  const { number, hash, timestamp } = membersOf(answer)
  return {
    number: hexToBigInt(hexOf(number)),
    hash: hexOf(hash),
    at: Number(hexOf(timestamp)) * 1_000
  }
}

/** Reads many channels with the contract's own `multicall`, all at the same block. */
async function channelsAt(
  rpc: Rpc,
  settlement: Address,
  ids: readonly ChannelId[],
  at: BlockTag | bigint
): Promise<ChannelsAt> {
  const block = await blockAt(rpc, at)
  if (block === undefined) throw new Error(`the endpoint has no ${at} block`)
  const parts = Array.from({ length: Math.ceil(ids.length / CHANNELS_PER_READ_MAX) }, (_, i) =>
    readChannels(rpc, settlement, ids.slice(i * CHANNELS_PER_READ_MAX, (i + 1) * CHANNELS_PER_READ_MAX), block.number)
  )
  return { block, channels: (await Promise.all(parts)).flat() }
}

const abi = batchSettlementAbi

async function readChannels(
  rpc: Rpc,
  settlement: Address,
  ids: readonly ChannelId[],
  at: bigint
): Promise<ChannelState[]> {
  const calls = ids.flatMap((id) => [
    encodeFunctionData({ abi, functionName: 'channels', args: [id] }),
    encodeFunctionData({ abi, functionName: 'pendingWithdrawals', args: [id] }),
    encodeFunctionData({ abi, functionName: 'refundNonce', args: [id] })
  ])
  const call = encodeFunctionData({ abi, functionName: 'multicall', args: [calls] })
  const data = await callAt(rpc, settlement, call, at)
  const results = decodeFunctionResult({ abi, functionName: 'multicall', data })
  return ids.map((_, i) => channelState(results.slice(3 * i, 3 * i + 3)))
}

function channelState([state = '0x', pending = '0x', next = '0x']: readonly Hex[]): ChannelState {
  const [balance, claimed] = decodeFunctionResult({ abi, functionName: 'channels', data: state })
  const [amount, since] = decodeFunctionResult({ abi, functionName: 'pendingWithdrawals', data: pending })
  const refundNonce = decodeFunctionResult({ abi, functionName: 'refundNonce', data: next })
  return { balance, claimed, refundNonce, ...(since !== 0 && { withdrawal: { amount, since: since * 1_000 } }) }
}

/**
 * Reads balance and payments at the same block, because they are consistent only together. A splitter without code has paid
 * nothing.
 */
async function splitterAt(rpc: Rpc, usdc: Address, splitter: Address, at: bigint): Promise<SplitterState> {
  const paid = encodeFunctionData({ abi: splitterAbi, functionName: 'paid', args: [usdc] })
  const balanceOf = encodeFunctionData({ abi: usdcAbi, functionName: 'balanceOf', args: [splitter] })
  const [paidData, balanceData] = await Promise.all([callAt(rpc, splitter, paid, at), callAt(rpc, usdc, balanceOf, at)])
  const balance = decodeFunctionResult({ abi: usdcAbi, functionName: 'balanceOf', data: balanceData })
  if (paidData === '0x') return { received: balance, toProvider: 0n, toTreasury: 0n }
  const [toProvider, toTreasury] = decodeFunctionResult({ abi: splitterAbi, functionName: 'paid', data: paidData })
  return { received: balance + toProvider + toTreasury, toProvider, toTreasury }
}

/** The fee limit covers five full blocks of rising demand: the base fee grows by at most one eighth per block. */
async function feesNow(rpc: Rpc, tipWei: number | undefined): Promise<{ maxFee: bigint; tip: bigint }> {
  const [block, tip] = await Promise.all([
    rpc('eth_getBlockByNumber', ['latest', false]),
    tipWei === undefined ? rpc('eth_maxPriorityFeePerGas', []).then((hex) => hexToBigInt(hexOf(hex))) : BigInt(tipWei)
  ])
  return { tip, maxFee: 2n * hexToBigInt(hexOf(membersOf(block).baseFeePerGas)) + tip }
}

/** The reason of a refused simulation that would take more gas than its call may. */
export const TOO_MUCH_GAS = 'it takes too much gas'

async function simulate(rpc: Rpc, from: Address, { to, data, gasMax }: ContractCall): Promise<Simulation> {
  try {
    const gas = hexToBigInt(hexOf(await rpc('eth_estimateGas', [{ from, to, data }])))
    return gasMax !== undefined && gas > gasMax ? { ok: false, reason: TOO_MUCH_GAS } : { ok: true, gas }
  } catch (error) {
    const refused = refusal(error)
    // Only a revert by the contract says something about the call; other errors are the endpoint's.
    if (refused === undefined || !/revert/i.test(refused.message)) throw error
    return { ok: false, reason: revertReason(refused.data) ?? refused.message.slice(0, REVERT_CHARS_MAX) }
  }
}

/** Errors of all contracts that this node calls. */
const ERRORS = [...batchSettlementAbi, ...splitterAbi, ...splitterFactoryAbi].filter(({ type }) => type === 'error')

function revertReason(data: unknown): string | undefined {
  if (!isHex(data)) return undefined
  try {
    const { errorName, args } = decodeErrorResult({ abi: ERRORS, data })
    const words: unknown = (errorName as string) === 'Error' ? (args as readonly unknown[] | undefined)?.[0] : undefined
    return (typeof words === 'string' ? words : errorName).slice(0, REVERT_CHARS_MAX)
  } catch {
    return undefined
  }
}

/** Error texts of common nodes: geth, reth, op-geth and anvil. */
const REFUSALS: ReadonlyArray<readonly [RegExp, Broadcast]> = [
  [/already (known|imported|in)|known transaction/i, 'accepted'],
  [/nonce (is )?too low|nonce has already been used/i, 'nonce_used'],
  [/underpriced|fee too low|less than (the )?block base fee|fee cap|max fee per gas/i, 'fee_too_low'],
  [/insufficient (funds|balance)/i, 'no_gas']
]

async function broadcast(rpc: Rpc, transaction: Hex): Promise<Broadcast> {
  try {
    hexOf(await rpc('eth_sendRawTransaction', [transaction]))
    return 'accepted'
  } catch (error) {
    const words = refusal(error)?.message ?? ''
    const known = REFUSALS.find(([pattern]) => pattern.test(words))
    if (known === undefined) throw error
    return known[1]
  }
}

async function receiptOf(rpc: Rpc, transactionHash: Hex): Promise<Receipt | undefined> {
  const answer = await rpc('eth_getTransactionReceipt', [transactionHash])
  if (answer === null) return undefined
  const { blockNumber, blockHash, status, gasUsed, effectiveGasPrice, l1Fee } = membersOf(answer)
  const gas = hexToBigInt(hexOf(gasUsed))
  return {
    blockNumber: hexToBigInt(hexOf(blockNumber)),
    blockHash: hexOf(blockHash),
    succeeded: hexOf(status) === '0x1',
    gasUsed: gas,
    cost: gas * hexToBigInt(hexOf(effectiveGasPrice)) + (isHex(l1Fee) ? hexToBigInt(l1Fee) : 0n)
  }
}

async function read(rpc: Rpc, { to, data }: ContractCall): Promise<Hex | undefined> {
  try {
    const result = await callAt(rpc, to, data, 'latest')
    return result === '0x' ? undefined : result
  } catch (error) {
    if (/revert/i.test(refusal(error)?.message ?? '')) return undefined
    throw error
  }
}

async function callAt(rpc: Rpc, to: Address, data: Hex, at: BlockTag | bigint): Promise<Hex> {
  return hexOf(await rpc('eth_call', [{ to, data }, typeof at === 'bigint' ? numberToHex(at) : at]))
}

function membersOf(answer: unknown): Record<string, unknown> {
  if (typeof answer !== 'object' || answer === null) throw new Error('the endpoint did not return an object')
  return { ...answer }
}
