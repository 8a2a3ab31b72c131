import type { Clock } from '../base/clock.ts'
import type { SoukError } from '../base/errors.ts'
import type { Chain } from '../interface/chain.ts'
import type { ChannelWatch, OwnerBooks, Redeemer } from '../interface/redeem.ts'
import type { Signer } from '../interface/signer.ts'
import type { Documents } from '../interface/store.ts'
import type { Submitter } from '../interface/submitter.ts'
import { createChannelWatch } from './channel-watch.ts'
import { createRedeemer, type RedeemerInit } from './redeemer.ts'
import type { SplitterFactory } from './splitter.ts'
import { createSubmitter } from './submitter.ts'

/** Everything of a till that has to do with the chain's own time. */
export interface Settlement {
  readonly submitter: Pick<Submitter, 'submit' | 'status'>
  readonly watch: ChannelWatch
  readonly redeemer: Redeemer
  start(): Promise<void>
  stop(): Promise<void>
}

export interface SettlementInit {
  readonly chain: Chain
  readonly signer: Signer
  readonly clock: Clock
  readonly documents: Documents
  readonly books: OwnerBooks
  readonly factory: SplitterFactory
  readonly policy?: NonNullable<RedeemerInit['policy']>
  readonly onError: (error: SoukError) => void
}

/** One nonce queue, one watch and one redeemer on one chain. */
export function createSettlement(init: SettlementInit): Settlement {
  const { books } = init
  const submitter = createSubmitter(init)
  const channels = function* () {
    for (const { channelId } of books.channels()) yield channelId
  }
  const watch = createChannelWatch({ ...init, channels })
  const redeemer = createRedeemer({ ...init, submitter, watch })
  return {
    submitter,
    watch,
    redeemer,
    async start() {
      await submitter.start()
      await watch.start()
      await redeemer.start()
    },
    async stop() {
      await redeemer.stop()
      watch.stop()
      await submitter.stop()
    }
  }
}
