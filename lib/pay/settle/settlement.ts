import type { Logger } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import type { SoukError } from '../../base/errors.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { ChannelWatch, OwnerBooks, Redeemer } from '../../interface/redeem.ts'
import type { Signer } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import type { Submitter } from '../../interface/submitter.ts'
import { Bookkeeper } from './bookkeeper.ts'
import { createChannelWatch } from '../chain/channel-watch.ts'
import { FinalTransactions } from '../chain/final-transactions.ts'
import { createRedeemer, type RedeemerInit } from './redeemer.ts'
import type { SplitterFactory } from '../chain/splitter.ts'
import { createSubmitter } from '../chain/submitter.ts'
import { bookWithdrawal } from '../chain/node-wallet.ts'

/** All parts of a payment scheme that follow the chain. */
export interface Settlement {
  readonly submitter: Pick<Submitter, 'submit' | 'has' | 'hashOf' | 'onFinal' | 'status'>
  readonly watch: ChannelWatch
  readonly redeemer: Redeemer
  readonly bookkeeper: Pick<Bookkeeper, 'asOf' | 'name' | 'splitters' | 'claimedOf' | 'writtenOffOf' | 'look'>
  readonly transactions: Pick<FinalTransactions, 'find' | 'latest' | 'cost'>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface SettlementInit {
  readonly chain: Chain
  readonly signer: Signer
  readonly clock: Clock
  readonly documents: Documents
  readonly ledger: Pick<Ledger, 'book'>
  readonly books: OwnerBooks
  readonly factory: SplitterFactory
  readonly policy?: NonNullable<RedeemerInit['policy']>
  readonly onError: (error: SoukError) => void
  /** Default: none. */
  readonly log?: Logger
}

/** One nonce queue, one watch, one redeemer and one bookkeeper for one chain. */
export function createSettlement(init: SettlementInit): Settlement {
  const { books, chain } = init
  const submitter = createSubmitter(init)
  const channels = function* () {
    for (const { channelId } of books.channels()) yield channelId
  }
  const watch = createChannelWatch({ ...init, channels })
  const bookkeeper = new Bookkeeper({ ...init, watch })
  const redeemer = createRedeemer({ ...init, submitter, watch, books: withFormerPayouts(books, bookkeeper) })
  const transactions = new FinalTransactions(init.documents, chain.parameters.chainId)
  submitter.onFinal(async (mined) => {
    await bookWithdrawal(init, mined)
    await transactions.add(mined)
  })
  return {
    submitter,
    watch,
    redeemer,
    bookkeeper,
    transactions,
    async start() {
      await transactions.start()
      await submitter.start()
      await watch.start()
      await bookkeeper.start()
      await redeemer.start()
    },
    async stop() {
      await redeemer.stop()
      await bookkeeper.stop()
      watch.stop()
      await submitter.stop()
    }
  }
}

/** Includes providers whose APIs this node no longer serves: they still get their earnings. */
function withFormerPayouts(books: OwnerBooks, bookkeeper: Pick<Bookkeeper, 'splitters'>): OwnerBooks {
  return {
    channels: () => books.channels(),
    closed: () => books.closed(),
    *payouts() {
      yield* books.payouts()
      for (const { payout } of bookkeeper.splitters().values()) if (payout !== undefined) yield payout
    }
  }
}
