import type { PaymentPayload } from '@x402/core/types'
import type { Clock } from '../../base/clock.ts'
import { asSoukError, SoukError } from '../../base/errors.ts'
import type { Hex } from '../../base/hex.ts'
import { max } from '../../base/bigints.ts'
import { WALLET_DEPOSIT_GAS } from '../../base/limits/chain.ts'
import { DEPOSIT_LOOK_MS, TRANSFER_LOOKS_MAX } from '../../base/limits/pay.ts'
import { type Atoms, formatUsdc } from '../../base/money.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Deposits, DepositTransaction } from '../../interface/deposits.ts'
import type { SettledTransaction } from '../../interface/earnings.ts'
import type { Address } from '../../interface/signer.ts'
import { PAYMENT_MEMBER } from '../../interface/payment-scheme.ts'
import type { Submitter } from '../../interface/submitter.ts'
import type { ContractPayments } from '../chain/contract-payments.ts'
import { feeFor } from '../chain/gas-tank.ts'
import { checksummed } from '../signing/address.ts'
import { checkExact } from './exact-check.ts'
import { type ExactPayment, foreignTransfer, nameOf, readExact, transferCall } from './exact-payment.ts'
import { type Asked, exactOffer, networkOf, type Refusal } from './offers.ts'
import { readPayment, writeSettlement } from './payment-text.ts'

export interface WalletDepositsInit {
  readonly chain: Chain
  readonly clock: Clock
  readonly wallet: Address
  readonly submitter: Pick<Submitter, 'submit'>
  readonly contractPayments: ContractPayments
  /** All final transactions; the submitter keeps only recent ones. */
  readonly transactions: { find(key: string): Promise<SettledTransaction | undefined> }
}

/** x402 `exact` payments to the node's own wallet, collected by the node. */
export function walletDeposits(init: WalletDepositsInit): Deposits {
  const { chain, clock, wallet, submitter, contractPayments, transactions } = init
  const { usdc } = chain.parameters
  const asked = (price: Atoms): Asked => ({ price })
  const offers = {
    network: networkOf(chain.parameters.chainId),
    payTo: () => wallet,
    refuse({ price }: Asked, { code, reason, detail }: Refusal): SoukError {
      const accepts = [exactOffer(chain.parameters, wallet, price)]
      return new SoukError(code, detail, {
        source: 'ingress',
        members: { [PAYMENT_MEMBER]: { error: reason, accepts } }
      })
    }
  }

  /** Attempts in vain to send a deposit, or to find its transfer, by the payment's name. */
  const looks = new Map<string, number>()

  /**
   * Anybody may submit a published authorisation. The money arrives all the same.
   * @throws SoukError `settlement_unavailable` while the token may be paused, or parts of the endpoint may lag behind others
   */
  async function sentByAnother(payment: ExactPayment): Promise<DepositTransaction | undefined> {
    const isUsed = await chain.authorizationUsed(payment.from, payment.nonce)
    const transfer = isUsed ? await foreignTransfer(chain, payment, clock.now() - DEPOSIT_LOOK_MS) : undefined
    const name = nameOf(payment)
    const look = (looks.get(name) ?? 0) + 1
    if (transfer === undefined && look < TRANSFER_LOOKS_MAX) {
      looks.set(name, look)
      const detail = isUsed
        ? 'The chain endpoint does not show the transfer of this deposit yet.'
        : 'The token refuses the transfer of this deposit at the moment.'
      throw new SoukError('settlement_unavailable', detail)
    }
    looks.delete(name)
    if (transfer === undefined) return undefined
    contractPayments.giveBack(name)
    return (await depthOf(chain, transfer.hash)) ?? { hash: transfer.hash, succeeded: true }
  }

  return {
    wallet,
    ask: (amount) =>
      offers.refuse(asked(amount), {
        code: 'payment_required',
        reason: 'PAYMENT-SIGNATURE header is required',
        detail: 'Pay the deposit by x402.'
      }),
    async read(text) {
      const { payment } = await readText(text)
      return { payer: payment.from, name: nameOf(payment), amount: payment.value, text }
    },
    async check({ text }, amount, others) {
      const { payload, payment } = await readText(text)
      const payTo = () => others.find((other) => other === payment.to) ?? wallet
      const checking = { chain, clock, offers: { ...offers, payTo }, sender: wallet }
      const name = nameOf(payment)
      const isCounted = contractPayments.has(name)
      let gas = 0n
      try {
        await checkExact(checking, asked(amount), payload, payment, (accepted) => {
          gas = accepted.gas
          if (accepted.hasCode && !isCounted) contractPayments.take(name)
          return amount
        })
        await mustCover(init, amount, gas)
      } catch (error) {
        if (!isCounted) contractPayments.giveBack(name)
        throw error
      }
    },
    async collect({ text }, signal) {
      const { payment } = await readText(text)
      const key = `account-deposit/${nameOf(payment)}`
      const done = await transactions.find(key)
      if (done?.succeeded === true) return { hash: done.hash, succeeded: true, depth: 'finalized' }
      try {
        const { hash, receipt, isFinal } = await submitter.submit(key, transferCall(usdc.address, payment), signal)
        const { succeeded } = receipt
        if (succeeded) contractPayments.giveBack(nameOf(payment))
        if (succeeded && isFinal) return { hash, succeeded, depth: 'finalized' }
        if (succeeded) return (await depthOf(chain, hash)) ?? { hash, succeeded }
        return (
          (await sentByAnother(payment)) ?? (isFinal ? { hash, succeeded, depth: 'finalized' } : { hash, succeeded })
        )
      } catch (error) {
        const sent = asSoukError(error).code === 'payment_rejected' ? await sentByAnother(payment) : undefined
        if (sent === undefined) throw error
        return sent
      }
    },
    response: ({ payer }, { hash }) =>
      writeSettlement({ success: true, transaction: hash, network: offers.network, payer: checksummed(payer) })
  }
}

async function depthOf(chain: Chain, hash: Hex): Promise<DepositTransaction | undefined> {
  const receipt = await chain.receipt(hash)
  if (receipt === undefined) return undefined
  const { succeeded, blockNumber } = receipt
  for (const depth of ['finalized', 'safe'] as const) {
    const block = await chain.block(depth)
    if (block !== undefined && block.number >= blockNumber) return { hash, succeeded, depth }
  }
  return { hash, succeeded, depth: 'latest' }
}

/** @throws SoukError `payment_rejected` if a deposit is worth less than its gas */
async function mustCover({ chain, wallet }: WalletDepositsInit, amount: Atoms, gas: bigint): Promise<void> {
  const fee = await feeFor(chain, wallet, max(gas, WALLET_DEPOSIT_GAS))
  if (fee <= amount) return
  const detail = `The gas for this deposit costs ${formatUsdc(fee)} USDC at the moment. Deposit a larger amount, or try again later.`
  throw new SoukError('payment_rejected', detail, { source: 'ingress' })
}

async function readText(text: string): Promise<{ payload: PaymentPayload; payment: ExactPayment }> {
  try {
    const payload = await readPayment(text)
    if (payload.accepted.scheme !== 'exact') {
      throw new SoukError('payment_rejected', 'The payment is rejected: a deposit requires the scheme "exact".')
    }
    return { payload, payment: readExact(payload.payload) }
  } catch (error) {
    throw here(error)
  }
}

/** Sets the error's source to this ingress; payment errors are the owner's by default. */
function here(error: unknown): SoukError {
  const { code, message } = asSoukError(error)
  return new SoukError(code, message, { source: 'ingress', cause: error })
}
