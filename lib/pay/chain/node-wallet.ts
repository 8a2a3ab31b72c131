import { encodeFunctionData } from 'viem/utils'
import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { type Atoms, formatUsdc } from '../../base/money.ts'
import { KeyedMutex } from '../../base/mutex.ts'
import type { Chain } from '../../interface/chain.ts'
import type { SettledTransaction } from '../../interface/earnings.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { Address } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import type { Mined, Submitter } from '../../interface/submitter.ts'
import type { Wallet, Withdrawal } from '../../interface/wallet.ts'
import { feeFor } from './gas-tank.ts'
import { ZERO_ADDRESS } from '../signing/address.ts'
import { usdcAbi } from '../contracts/contracts.generated.ts'

export interface NodeWalletInit {
  readonly chain: Chain
  readonly address: Address
  readonly submitter: Pick<Submitter, 'submit' | 'has'>
  /** All final transactions; the submitter keeps only recent ones. */
  readonly transactions: { find(key: string): Promise<SettledTransaction | undefined> }
  readonly documents: Pick<Documents, 'get' | 'put'>
}

/** The key of the last withdrawal under each id. */
const IDS = 'withdrawal-ids'

/** The node's own account on one chain. */
export function nodeWallet({ chain, address, submitter, transactions, documents }: NodeWalletInit): Wallet {
  const { usdc, settlement, collector } = chain.parameters
  /** These contracts never return USDC that is sent to them. */
  const traps = [ZERO_ADDRESS, usdc.address, settlement.address, collector.address]
  /** Serializes withdrawals of one id until the submitter knows them. */
  const turns = new KeyedMutex()

  /** Refuses another amount or address under an id, unless nothing was sent under it. */
  async function claim(id: string, key: string): Promise<void> {
    const before = await documents.get(IDS, id)
    if (before === key) return
    if (before !== undefined && (submitter.has(before) || (await transactions.find(before))?.succeeded === true)) {
      const detail = 'A withdrawal of another amount, or to another address, has this id. Choose another id.'
      throw new SoukError('payment_id_conflict', detail)
    }
    await documents.put(IDS, id, key)
  }

  return {
    address,
    final: (withdrawal) => transactions.find(keyOf(withdrawal)),
    isUnderWay: (withdrawal) => submitter.has(keyOf(withdrawal)),
    async balance() {
      const [latest, finalized, wei] = await Promise.all([
        chain.balance(address, 'latest'),
        chain.balance(address, 'finalized'),
        chain.gas(address)
      ])
      return { latest, finalized, wei }
    },
    feeFor: (gas) => feeFor(chain, address, gas),
    async withdraw(withdrawal, signal) {
      const { to, amount, id } = withdrawal
      if (amount <= 0n) throw new SoukError('invalid_request', 'The amount has to be above 0.')
      if (traps.includes(to))
        throw new SoukError('invalid_request', 'USDC sent to this address is lost. Choose another address.')
      if (to === address)
        throw new SoukError('invalid_request', 'This is the address of the wallet itself. Choose another address.')
      if (!ID.test(id))
        throw new SoukError('invalid_request', 'The id of a withdrawal has to be up to 64 letters and digits.')
      const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to, amount] })
      const key = keyOf(withdrawal)
      // The submitter forgets old final transactions, and would send this one again.
      const done = await transactions.find(key)
      if (done?.succeeded === true) return done
      const submitted = await turns.run(id, async () => {
        await claim(id, key)
        if (!submitter.has(key)) await checkFunds(chain, address, amount)
        return { mined: submitter.submit(key, { to: usdc.address, data }, signal) }
      })
      const mined = await submitted.mined
      if (mined.receipt.succeeded) return mined
      throw new SoukError('payment_rejected', 'The transfer was mined but failed. No USDC was sent.')
    }
  }
}

const ID = /^[\w-]{1,64}$/

async function checkFunds(chain: Chain, address: Address, amount: Atoms): Promise<void> {
  const there = await chain.balance(address, 'latest')
  if (there >= amount) return
  const [has, wanted] = [formatUsdc(there), formatUsdc(amount)]
  throw new SoukError('insufficient_funds', `The wallet holds ${has} USDC; ${wanted} USDC were requested.`)
}

/** The key contains what the ledger entry needs, so that a later process can book the transfer when it is final. */
const keyOf = ({ to, amount, id }: Withdrawal): string => `transfer/${to}/${amount}/${id}`

/** Books a final withdrawal; ignores other transactions. */
export async function bookWithdrawal(
  { ledger, clock }: { readonly ledger: Pick<Ledger, 'book'>; readonly clock: Pick<Clock, 'now'> },
  { key, hash, receipt }: Mined
): Promise<void> {
  const [kind, to, atoms] = key.split('/')
  if (kind !== 'transfer' || to === undefined || atoms === undefined || !receipt.succeeded) return
  const amount = BigInt(atoms)
  const postings = [
    { account: `withdrawn/${to}`, amount },
    { account: 'wallet', amount: -amount }
  ]
  await ledger.book({ kind: 'transfer', reference: hash, at: clock.now(), postings })
}
