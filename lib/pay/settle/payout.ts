import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import type { Hex } from '../../base/hex.ts'
import { DISTRIBUTE_GAS, SETTLE_GAS } from '../../base/limits/chain.ts'
import type { Atoms } from '../../base/money.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Withheld } from '../../interface/redeem.ts'
import type { Address } from '../../interface/signer.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'
import { splitterAbi } from '../contracts/contracts.generated.ts'
import { submitStep } from '../chain/submit-step.ts'
import type { SettlementCalls } from '../chain/settlement-calls.ts'
import { type SplitterFactory, treasuryPart } from '../chain/splitter.ts'
import { transferRefusal } from '../chain/transfer-refusal.ts'

export interface PayoutInit {
  readonly chain: Chain
  readonly calls: SettlementCalls
  readonly factory: SplitterFactory
  readonly submitter: Submitter
}

/** The amounts moved in one payout, the transactions, and the amounts that the token refuses to move. */
export interface PaidOut {
  readonly settled: Atoms
  readonly distributed: Atoms
  readonly transactions: readonly Mined[]
  readonly withheld: readonly Withheld[]
}

/**
 * Moves a provider's claimed money to its splitter, and has the splitter pay both sides. Sends no transaction that the token would
 * let pay nothing.
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
  const isDue = due > 0n && isWorth(due, SETTLE_GAS)
  const settle = isDue
    ? await submitStep(submitter, `settle/${splitter}/${claimed}`, calls.settle(splitter), signal)
    : undefined
  const unsettled = isDue && settle === undefined ? await unsettledOf(chain, splitter, due) : []
  const balance = await chain.balance(splitter, 'latest')
  const withheld = balance > 0n ? await withheldIn(init, payout, balance) : []
  const payable = withheld.reduce((rest, { amount }) => rest - amount, balance)
  const distribute =
    payable > 0n && isWorth(payable, DISTRIBUTE_GAS)
      ? await submitStep(
          submitter,
          await distributeKey(init, splitter, { balance, payable }),
          calls.distribute(factory, payout),
          signal
        )
      : undefined
  const left = distribute === undefined ? balance : await chain.balance(splitter, 'latest')
  return {
    settled: settle === undefined ? 0n : due,
    distributed: balance > left ? balance - left : 0n,
    transactions: [settle, distribute].filter((mined) => mined !== undefined),
    withheld: [...unsettled, ...withheld]
  }
}

async function unsettledOf(chain: Chain, splitter: Address, amount: Atoms): Promise<Withheld[]> {
  const reason = await transferRefusal(chain, chain.parameters.settlement.address, splitter)
  return [{ to: splitter, amount, reason: reason ?? 'the contract refuses to settle' }]
}

/** The parts of a splitter's balance that the token refuses to pay out now. */
async function withheldIn({ chain, factory }: PayoutInit, payout: Address, balance: Atoms): Promise<Withheld[]> {
  const splitter = factory.splitterOf(payout)
  const [toProvider, toTreasury] = await Promise.all([
    transferRefusal(chain, splitter, payout),
    transferRefusal(chain, splitter, factory.treasury)
  ])
  if (toProvider === undefined && toTreasury === undefined) return []
  const data = await chain.read({ to: splitter, data: splitterCall('owed', chain) })
  const part = treasuryPart(balance)
  // A splitter that does not exist yet has paid nothing.
  const [provider, treasury] = data
    ? decodeFunctionResult({ abi: splitterAbi, functionName: 'owed', data })
    : [balance - part, part]
  return [
    ...(toProvider === undefined ? [] : [{ to: payout, amount: provider, reason: toProvider }]),
    ...(toTreasury === undefined ? [] : [{ to: factory.treasury, amount: treasury, reason: toTreasury }])
  ].filter(({ amount }) => amount > 0n)
}

/**
 * The key includes the total that the splitter ever received, or its balance until it exists, and the part that the token pays now, if
 * it refuses another. So the rest has a key of its own, and an endpoint that lags behind a payout makes no second one.
 */
async function distributeKey(
  init: PayoutInit,
  splitter: Address,
  { balance, payable }: { readonly balance: Atoms; readonly payable: Atoms }
): Promise<string> {
  const received = (await receivedBy(init, splitter)) ?? balance
  const part = payable === balance ? '' : `/${payable}`
  let round = 0
  const key = () => `distribute/${splitter}/${received}${part}/${round}`
  while (init.submitter.find(key())?.isFinal === true) round++
  return key()
}

/** The total that a splitter ever received; undefined if it does not exist yet. */
async function receivedBy({ chain }: PayoutInit, splitter: Address): Promise<Atoms | undefined> {
  const data = await chain.read({ to: splitter, data: splitterCall('received', chain) })
  return data && decodeFunctionResult({ abi: splitterAbi, functionName: 'received', data })
}

function splitterCall(functionName: 'owed' | 'received', { parameters }: Chain): Hex {
  return encodeFunctionData({ abi: splitterAbi, functionName, args: [parameters.usdc.address] })
}
