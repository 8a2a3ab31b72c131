import assert from 'node:assert/strict'
import { PAYER_RECEIPTS_MAX, PAYER_WRITE_MS } from '../../../../lib/base/limits/pay.ts'
import { formatRequestId } from '../../../../lib/base/request-id.ts'
import type { ChannelConfig } from '../../../../lib/interface/channel.ts'
import type { Ledger } from '../../../../lib/interface/ledger.ts'
import type { Store } from '../../../../lib/interface/store.ts'
import { DailyCap } from '../../../../lib/pay/payer/daily-cap.ts'
import { PayerChannel } from '../../../../lib/pay/payer/payer-channel.ts'
import { PayerChannels } from '../../../../lib/pay/payer/payer-channels.ts'
import { PayerFunds } from '../../../../lib/pay/payer/payer-funds.ts'
import { RECEIPTS, receiptDocument } from '../../../../lib/pay/payer/stored-receipts.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { freshIds, peerId } from '../../../helpers/call-record.ts'
import { type ManualClock, manualClock, settle } from '../../../helpers/manual-clock.ts'

const DEPOSIT = 1_000_000n
const ZERO = `0x${'00'.repeat(20)}` as const
const CONFIG: ChannelConfig = {
  payer: ZERO,
  payerAuthorizer: ZERO,
  receiver: ZERO,
  receiverAuthorizer: ZERO,
  token: ZERO,
  withdrawDelay: 0,
  salt: `0x${'00'.repeat(32)}`
}

describe('the charges of a payer', () => {
  let clock: ManualClock
  let store: Store
  let channels: PayerChannels
  let channel: PayerChannel
  /** Called before each balance is read. */
  let onRead: () => void

  beforeEach(async () => {
    clock = manualClock()
    store = createMemoryStore()
    await store.open()
    const cap = new DailyCap(DEPOSIT)
    const rules = { windowCalls: 20, windowAtoms: 10_000n, exposureMax: DEPOSIT }
    onRead = () => {}
    const { documents } = store
    const ledger: Pick<Ledger, 'book' | 'balance'> = {
      book: (entry, puts) => store.ledger.book(entry, puts),
      balance(account) {
        onRead()
        return store.ledger.balance(account)
      }
    }
    channels = new PayerChannels({ documents, ledger, rules, cap, clock, onDispute: () => {}, onEnd: () => [] })
    const funds = new PayerFunds({ ceiling: DEPOSIT, spent: 0n, deposit: DEPOSIT, isWhole: true }, rules, cap)
    const info = { channelId: `0x${'ab'.repeat(32)}`, config: CONFIG, counter: 1n, owner: peerId('D') } as const
    channel = new PayerChannel(info, funds, undefined, { phase: 'open', isDisputed: false })
  })
  afterEach(() => store.close())

  const charge = (times: number) => {
    for (let i = 0; i < times; i++)
      channels.charge(channel, 1n, receiptDocument(formatRequestId(freshIds.next()), new Uint8Array(1)))
  }
  const written = async () => {
    await settle()
    const entries = await store.ledger.entries({ limit: 10, kinds: ['paid'] })
    return [entries.map(({ postings }) => postings[0]?.amount), (await store.documents.list(RECEIPTS)).length]
  }

  it('wait for a write that is due, and are one entry with the receipt of each', async () => {
    charge(3)
    await clock.advance(PAYER_WRITE_MS - 1)
    assert.deepEqual(await written(), [[], 0])
    await clock.advance(1)
    assert.deepEqual(await written(), [[3n], 3])
    assert.equal(clock.pending, 0)
  })

  it('are written at once when many wait', async () => {
    charge(PAYER_RECEIPTS_MAX - 1)
    assert.deepEqual(await written(), [[], 0])
    charge(2)
    assert.deepEqual(await written(), [[BigInt(PAYER_RECEIPTS_MAX)], PAYER_RECEIPTS_MAX])
    await clock.advance(PAYER_WRITE_MS)
    assert.deepEqual(await written(), [[BigInt(PAYER_RECEIPTS_MAX), 1n], PAYER_RECEIPTS_MAX + 1])
    assert.equal(clock.pending, 0)
  })

  it('do not grow while the balances of an ending channel are read', async () => {
    const { payerFunds } = channel
    const promised = [payerFunds.promise(2n, 0), payerFunds.promise(3n, 0)]
    const settleOne = (): void => {
      const next = promised.pop()
      if (next === undefined || !('ceiling' in next)) return
      const counted = next.settle(1n, payerFunds.spent + 1n)
      if (counted > 0n) charge(1)
    }
    settleOne()
    onRead = settleOne
    channel.move('withdrawing')
    await channels.end(channel, 0n)
    await clock.advance(PAYER_WRITE_MS)
    await settle()
    const balances = ['channel/', 'spent/', 'unclaimed/'].map((name) =>
      store.ledger.balance(`${name}${channel.info.channelId}`)
    )
    assert.deepEqual(await Promise.all(balances), [0n, 1n, -1n])
    assert.equal(clock.pending, 0)
  })
})
