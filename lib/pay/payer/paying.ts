import type { Logger } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import type { SoukError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import type { Chain } from '../../interface/chain.ts'
import type { Dispute } from '../../interface/disputes.ts'
import type { Ledger } from '../../interface/ledger.ts'
import type { Link } from '../../interface/link.ts'
import type { Address, Signer } from '../../interface/signer.ts'
import type { Documents } from '../../interface/store.ts'
import type { Submitter } from '../../interface/submitter.ts'
import { payClient } from '../channel/pay-client.ts'
import { settlementCalls } from '../chain/settlement-calls.ts'
import { ReceiptCheck } from '../signing/receipt.ts'
import type { SettlementDomain } from '../signing/settlement-domain.ts'
import type { TokenDomain } from '../signing/token-domain.ts'
import type { Digest } from '../signing/typed-data.ts'
import { ChannelCloser } from './channel-closer.ts'
import { ChannelOpener } from './channel-opener.ts'
import { ChannelSync } from './channel-sync.ts'
import { DailyCap } from './daily-cap.ts'
import { Disputes } from './disputes.ts'
import type { PayRules } from './pay-rules.ts'
import type { PayerChannel } from './payer-channel.ts'
import { lastLease, PayerChannels } from './payer-channels.ts'
import { Payer } from './payer.ts'
import { ReceiptInspector } from './receipt-inspector.ts'

export interface PayingInit {
  readonly chain: Chain
  readonly signer: Signer
  readonly domain: SettlementDomain
  readonly token: TokenDomain
  readonly digest: Digest
  readonly splitterOf: (payout: Address) => Address
  readonly rules: PayRules
  readonly documents: Documents
  readonly ledger: Ledger
  readonly link: Pick<Link, 'self' | 'exchange'>
  readonly clock: Clock
  readonly random: Random
  readonly submitter: Pick<Submitter, 'submit'>
  readonly log: Logger
  readonly onError: (error: SoukError) => void
  readonly onDispute: (dispute: Dispute) => void
}

/** The payer's parts. A node that is started again gets new ones. */
export interface Paying {
  readonly channels: PayerChannels
  readonly inspector: ReceiptInspector
  readonly opener: ChannelOpener
  readonly payer: Payer
  readonly channelCloser: ChannelCloser
  readonly disputes: Disputes
}

export async function createPaying(init: PayingInit): Promise<Paying> {
  const { rules, documents, link, chain, digest, clock } = init
  const cap = new DailyCap(rules.dailyMax, await lastLease(documents))
  const leave = (channel: PayerChannel) => channelCloser.leave(channel)
  const channels = new PayerChannels({
    ...init,
    cap,
    onDispute: leave,
    onEnd: (channel, isTaken) => disputes.onEnd(channel, isTaken)
  })
  const ask = payClient({ link, clock })
  const check = new ReceiptCheck(digest)
  const disputes = new Disputes({ ...init, channels, ask, check })
  const opener = new ChannelOpener({ ...init, channels, ask, cap })
  const channelCloser = new ChannelCloser({ ...init, calls: settlementCalls(chain.parameters), channels, opener, ask })
  const onForged: Payer['onForged'] = (channel, expected) => payer.onForged(channel, expected)
  const inspector = new ReceiptInspector({ check, clock, onForged })
  const channelSync = new ChannelSync({ chain, channels, opener, leave })
  const payer = new Payer({ ...init, channels, opener, channelSync, inspector, disputes, self: link.self })
  return { channels, inspector, opener, channelCloser, disputes, payer }
}
