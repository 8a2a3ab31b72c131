import { type Clock, sleep } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { WITHDRAW_GAS } from '../../base/limits/chain.ts'
import { DEPOSIT_VALID_MS, LEAVE_PAUSE_MS, LEAVE_POLL_MS } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import type { Chain, ChannelState, ContractCall } from '../../interface/chain.ts'
import type { Signer } from '../../interface/signer.ts'
import type { Submitter } from '../../interface/submitter.ts'
import type { PayerChannel } from './payer-channel.ts'
import type { SettlementCalls } from '../chain/settlement-calls.ts'

export interface WithdrawalInit {
  readonly chain: Pick<Chain, 'channels' | 'gas' | 'fees'>
  readonly calls: Pick<SettlementCalls, 'initiateWithdraw' | 'finalizeWithdraw'>
  readonly submitter: Pick<Submitter, 'submit'>
  readonly signer: Signer
  readonly clock: Clock
}

/** @throws SoukError `settlement_unavailable` if the payer's account cannot pay the gas of a withdrawal */
export async function checkWithdrawGas({ chain, signer }: WithdrawalInit): Promise<void> {
  const [wei, { maxFee }] = await Promise.all([chain.gas(signer.address), chain.fees()])
  if (wei >= WITHDRAW_GAS * maxFee) return
  throw new SoukError(
    'settlement_unavailable',
    `${signer.address} has too little ETH on this chain for the gas of a withdrawal. Send some ETH to it.`
  )
}

/**
 * Withdraws all money of a channel that the owner does not claim within the channel's delay. Each step depends only on the state
 * of the chain, so a restart continues where it was and repeats no request.
 * @param onBegun called with the end of the delay, once the chain shows that the delay has begun. Nothing is withdrawn before the
 *     returned promise resolves.
 * @returns the amount that the owner keeps, when nothing is left to withdraw
 * @throws SoukError as `Submitter.submit`, without `payment_rejected`; the signal's reason when it aborts
 */
export async function withdraw(
  init: WithdrawalInit,
  channel: PayerChannel,
  { signal, onBegun }: { readonly signal: AbortSignal; readonly onBegun: (until: number) => Promise<void> }
): Promise<Atoms> {
  const { chain, calls, clock } = init
  const { channelId, config } = channel.info
  let isContested = false
  let begunAt: number | undefined
  for (;;) {
    const { block, channels } = await chain.channels([channelId], 'latest')
    const state = channels[0]
    begunAt ??= block.at
    if (state === undefined)
      throw new SoukError('settlement_unavailable', 'The chain endpoint did not return the channel. Try again later.')
    const { balance, claimed, withdrawal } = state
    if (balance <= claimed) {
      if (isOut(channel, state, block.at) || block.at >= begunAt + DEPOSIT_VALID_MS) return balance
    } else if (withdrawal === undefined) {
      const amount = amountOf(state, isContested ? channel.payerFunds.ceiling : 0n)
      const key = `leave/${channelId}/${balance}/${amount}`
      isContested = !(await isDone(init, key, calls.initiateWithdraw(config, amount), signal))
    } else {
      const until = withdrawal.since + config.withdrawDelay * 1_000
      await onBegun(until)
      const leftMs = until - block.at
      if (leftMs <= 0) {
        const key = `left/${channelId}/${withdrawal.since}/${withdrawal.amount}`
        await isDone(init, key, calls.finalizeWithdraw(config), signal)
      } else if (leftMs > LEAVE_PAUSE_MS) {
        await sleep(clock, LEAVE_PAUSE_MS, signal)
      }
    }
    await sleep(clock, LEAVE_POLL_MS, signal)
  }
}

/**
 * True if the channel is empty for a known reason: its deposit was earned, refunded or withdrawn. Otherwise the deposit may still
 * appear while its authorisation is valid, because an endpoint fell behind or a block was removed.
 */
function isOut(
  { payerFunds, withdrawableAt }: PayerChannel,
  { balance, refundNonce }: ChannelState,
  at: number
): boolean {
  return balance >= payerFunds.deposit || refundNonce > 0n || (withdrawableAt !== undefined && at >= withdrawableAt)
}

/**
 * Excludes the amount that the owner can still claim with the last ceiling. Otherwise an owner that claims bit by bit could make
 * every withdrawal fail.
 */
function amountOf({ balance, claimed }: ChannelState, ceiling: Atoms): Atoms {
  const certain = balance - (ceiling > claimed ? ceiling : claimed)
  return certain > 0n ? certain : balance - claimed
}

/** False if the state changed in between; the next read shows how. */
async function isDone(
  { submitter }: WithdrawalInit,
  key: string,
  call: ContractCall,
  signal: AbortSignal
): Promise<boolean> {
  try {
    return (await submitter.submit(key, call, signal)).receipt.succeeded
  } catch (error) {
    if (error instanceof SoukError && error.code === 'payment_rejected') return false
    throw error
  }
}
