import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { type Clock, sleep } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { type Hex, toHex } from '../../base/hex.ts'
import { MINED_MS, MINED_POLL_MS } from '../../base/limits/chain.ts'
import type { Chain, ContractCall, Receipt } from '../../interface/chain.ts'
import type { Address, Signer } from '../../interface/signer.ts'
import { ZERO_ADDRESS } from '../signing/address.ts'
import { splitterFactoryAbi } from '../contracts/contracts.generated.ts'
import { CREATE2_DEPLOYER, type SplitterFactory, splitterFactory } from './splitter.ts'
import { signTransaction } from './transaction.ts'

export interface DeploySplittersInit {
  readonly chain: Chain
  readonly clock: Clock
  /** Receives the network's 5%. It can never change. */
  readonly treasury: Address
  /** Pays the gas; it gets no rights. */
  readonly signer: Signer
  readonly signal?: AbortSignal
}

export interface DeployedSplitters {
  readonly factory: SplitterFactory
  /** Absent if the factory already existed. Anybody may deploy it, at the same address. */
  readonly transaction?: { readonly hash: Hex; readonly receipt: Receipt }
}

/**
 * Deploys the splitter factory of a network and verifies it. Safe to repeat, also after an interruption.
 * @throws SoukError `invalid_request` for the zero address as treasury; `settlement_unavailable` if the chain is another one,
 * refuses the transaction, or does not mine it in `MINED_MS`
 */
export async function deploySplitters(init: DeploySplittersInit): Promise<DeployedSplitters> {
  const { chain, treasury, signer } = init
  if (treasury === ZERO_ADDRESS) throw new SoukError('invalid_request', 'The treasury cannot be the zero address.')
  await chain.verify()
  const factory = splitterFactory(treasury)
  if ((await chain.code(factory.address)) !== '0x') {
    await verifySplitters(chain, treasury)
    return { factory }
  }
  if ((await chain.code(CREATE2_DEPLOYER)) === '0x') throw unavailable('This chain lacks the deterministic deployer.')
  const call = deployment(factory)
  const hash = await send(chain, signer, call)
  const receipt = await mined(init, hash)
  await verifySplitters(chain, treasury)
  return { factory, transaction: { hash, receipt } }
}

/**
 * The most that a deployment costs now, in wei, without a rollup's fee for data. Undefined if the factory exists already.
 * @throws SoukError `settlement_unavailable`
 */
export async function estimateSplitters({
  chain,
  treasury,
  signer
}: Pick<DeploySplittersInit, 'chain' | 'treasury' | 'signer'>): Promise<bigint | undefined> {
  const factory = splitterFactory(treasury)
  if ((await chain.code(factory.address)) !== '0x') return undefined
  const [simulation, { maxFee }] = await Promise.all([
    chain.simulate(signer.address, deployment(factory)),
    chain.fees()
  ])
  if (!simulation.ok) throw unavailable(`The chain would reject the transaction: ${simulation.reason}`)
  return simulation.gas * maxFee
}

function deployment({ initCode }: SplitterFactory): ContractCall {
  return { to: CREATE2_DEPLOYER, data: `0x${'00'.repeat(32)}${toHex(initCode).slice(2)}` }
}

/**
 * Checks that the treasury's splitter factory is on the chain and divides as this network does.
 * @throws SoukError `settlement_unavailable`
 */
export async function verifySplitters(chain: Chain, treasury: Address): Promise<SplitterFactory> {
  const factory = splitterFactory(treasury)
  // The address follows from the code, so other code there is nearly impossible. Its values are checked anyway.
  const [of, template, bps, sample] = await Promise.all([
    readFactory(chain, factory.address, 'treasury'),
    readFactory(chain, factory.address, 'template'),
    readFactory(chain, factory.address, 'BPS'),
    readFactory(chain, factory.address, 'splitterOf', SAMPLE)
  ])
  if (of === undefined) {
    throw unavailable(`There is no splitter factory at ${factory.address}: deploy it with "souk network create".`)
  }
  const isOurs =
    of === treasury && template === factory.template && bps === '500' && sample === factory.splitterOf(SAMPLE)
  if (!isOurs)
    throw unavailable(`The splitter factory at ${factory.address} does not divide money as this network does.`)
  return factory
}

/** An arbitrary address. */
const SAMPLE: Address = `0x${'5a'.repeat(20)}`

async function readFactory(
  chain: Chain,
  to: Address,
  functionName: 'treasury' | 'template' | 'BPS' | 'splitterOf',
  ...args: readonly Address[]
): Promise<string | undefined> {
  const call = { abi: splitterFactoryAbi, functionName, args } as Parameters<typeof encodeFunctionData>[0]
  const data = await chain.read({ to, data: encodeFunctionData(call) })
  if (data === undefined) return undefined
  const result = decodeFunctionResult({ abi: splitterFactoryAbi, functionName, data })
  return String(result).toLowerCase()
}

async function send(chain: Chain, signer: Signer, call: ContractCall): Promise<Hex> {
  const simulation = await chain.simulate(signer.address, call)
  if (!simulation.ok) throw unavailable(`The chain would reject the transaction: ${simulation.reason}`)
  const [nonce, fees] = await Promise.all([chain.nonce(signer.address, 'latest'), chain.fees()])
  const transaction = { ...call, chainId: chain.parameters.chainId, nonce, gas: simulation.gas, fees }
  const { raw, hash } = await signTransaction(transaction, signer)
  const answer = await chain.broadcast(raw)
  if (answer === 'no_gas') throw unavailable(`${signer.address} has too little ETH on this chain to pay for the gas.`)
  if (answer !== 'accepted')
    throw unavailable(
      'The endpoint did not accept the transaction; another one of this account may be pending. Try again later.'
    )
  return hash
}

async function mined({ chain, clock, signal }: DeploySplittersInit, hash: Hex): Promise<Receipt> {
  const { confirmations } = chain.parameters
  const end = clock.elapsed() + MINED_MS
  for (;;) {
    const [receipt, head] = await Promise.all([chain.receipt(hash), chain.block('latest')])
    const depth = receipt === undefined || head === undefined ? 0n : head.number - receipt.blockNumber + 1n
    if (receipt !== undefined && depth >= confirmations) {
      if (!receipt.succeeded) throw unavailable(`Transaction ${hash} was mined, but failed.`)
      return receipt
    }
    if (clock.elapsed() > end) throw unavailable(`Transaction ${hash} is not mined yet. Repeat the command later.`)
    await sleep(clock, MINED_POLL_MS, signal)
  }
}

const unavailable = (detail: string) => new SoukError('settlement_unavailable', detail)
