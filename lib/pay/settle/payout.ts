import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { DISTRIBUTE_GAS, SETTLE_GAS } from '../../base/limits/chain.ts'
import type { Atoms } from '../../base/money.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Address } from '../../interface/signer.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'
import { splitterAbi } from '../contracts/contracts.generated.ts'
import { submitStep } from '../chain/submit-step.ts'
import type { SettlementCalls } from '../chain/settlement-calls.ts'
import type { SplitterFactory } from '../chain/splitter.ts'

export interface PayoutInit {
  readonly chain: Chain
  readonly calls: SettlementCalls
  readonly factory: SplitterFactory
  readonly submitter: Submitter
}

/** The amounts moved in one payout, and the transactions. */
export interface PaidOut {
  readonly settled: Atoms
  readonly distributed: Atoms
  readonly transactions: readonly Mined[]
}

/**
 * Moves a provider's claimed money to its splitter, and has the splitter pay both sides.
 * @param isWorth whether an amount is worth its gas
 * @throws SoukError as `Submitter.submit`
 */
export async function payOut(
  init: PayoutInit,
  payout: Address,
  isWorth: (amount: Atoms, gas: bigint) => boolean,
  signal?: AbortSignal
): Promise<PaidOut> {
  const { chain, calls, factory, submitter } = init
  const splitter = factory.splitterOf(payout)
  const { claimed, settled } = await chain.receiver(splitter, 'latest')
  const due = claimed - settled
  const settle =
    due > 0n && isWorth(due, SETTLE_GAS)
      ? await submitStep(submitter, `settle/${splitter}/${claimed}`, calls.settle(splitter), signal)
      : undefined
  const balance = await chain.balance(splitter, 'latest')
  const distribute =
    balance > 0n && isWorth(balance, DISTRIBUTE_GAS)
      ? await submitStep(
          submitter,
          await distributeKey(init, splitter, balance),
          calls.distribute(factory, payout),
          signal
        )
      : undefined
  const left = distribute === undefined ? balance : await chain.balance(splitter, 'latest')
  return {
    settled: settle === undefined ? 0n : due,
    distributed: balance > left ? balance - left : 0n,
    transactions: [settle, distribute].filter((mined) => mined !== undefined)
  }
}

/**
 * The key includes the total that the splitter ever received, or its balance until it exists. If the token refused one side, the
 * rest is retried in later rounds.
 */
async function distributeKey(init: PayoutInit, splitter: Address, balance: Atoms): Promise<string> {
  const received = (await receivedBy(init, splitter)) ?? balance
  let round = 0
  const key = () => `distribute/${splitter}/${received}/${round}`
  while (init.submitter.find(key())?.isFinal === true) round++
  return key()
}

/** The total that a splitter ever received; undefined if it does not exist yet. */
async function receivedBy({ chain }: PayoutInit, splitter: Address): Promise<Atoms | undefined> {
  const args = [chain.parameters.usdc.address] as const
  const data = await chain.read({
    to: splitter,
    data: encodeFunctionData({ abi: splitterAbi, functionName: 'received', args })
  })
  return data && decodeFunctionResult({ abi: splitterAbi, functionName: 'received', data })
}
