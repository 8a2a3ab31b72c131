import assert from 'node:assert/strict'
import { CREDIT_CHANNELS_MAX, CREDIT_LOST_MS } from '../../../../lib/base/limits/pay.ts'
import type { ChannelState } from '../../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../../lib/interface/channel.ts'
import type { Address } from '../../../../lib/interface/signer.ts'
import { DepositCredit } from '../../../../lib/pay/payee/deposit-credit.ts'
import { PayeeChannel } from '../../../../lib/pay/payee/payee-channel.ts'
import { payRules } from '../../../../lib/pay/payer/pay-rules.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'
import { manualClock, settle } from '../../../helpers/manual-clock.ts'
import { PAYOUT } from '../../../helpers/scheme-bench.ts'

const CENT = 10_000n
const DOLLAR = 1_000_000n
const GAS = 16_000n

/** An owner's credit, its channels, and the chain as it shows them. */
async function creditBench(asked: Partial<ReturnType<typeof payRules>> = {}) {
  const { documents, open } = createMemoryStore()
  await open()
  const clock = manualClock()
  const channels = new Map<ChannelId, PayeeChannel>()
  const chain = { isGasAmple: true, isDepositing: false, channels: 0 }
  const balances = new Map<ChannelId, bigint>()
  const listeners = new Set<(ids: readonly ChannelId[]) => void>()
  const stateOf = (balance: bigint): ChannelState => ({ balance, claimed: 0n, refundNonce: 0n })
  const watch = {
    snapshot: (id: ChannelId) => {
      const state = stateOf(balances.get(id) ?? 0n)
      return { latest: state, safe: state, finalized: state }
    },
    age: () => 0,
    refresh: async () => {},
    onLook: (listener: (ids: readonly ChannelId[]) => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    start: async () => {},
    stop: () => {}
  }
  const start = async () => {
    const credit = new DepositCredit({
      documents,
      clock,
      rules: payRules(asked),
      redeemer: { isGasAmple: () => chain.isGasAmple, isDepositing: () => chain.isDepositing },
      channels: {
        get: (id) => channels.get(id),
        get size() {
          return chain.channels
        }
      }
    })
    await credit.start(watch)
    return credit
  }
  let made = 0
  const newChannel = (payer: Address = `0x${(++made).toString(16).padStart(40, '0')}`): PayeeChannel => {
    const channelId: ChannelId = `0x${(++made).toString(16).padStart(64, '0')}`
    const config = {
      payer,
      payerAuthorizer: payer,
      receiver: PAYOUT,
      receiverAuthorizer: PAYOUT,
      token: PAYOUT,
      withdrawDelay: 900,
      salt: channelId
    }
    const channel = new PayeeChannel({ channelId, config }, 0n)
    channel.payeeFunds.raise(DOLLAR)
    channels.set(channelId, channel)
    return channel
  }
  /** A block has a deposit, of which `limit` counts. */
  const show = (channel: PayeeChannel, limit = DOLLAR / 2n): void => {
    balances.set(channel.info.channelId, DOLLAR / 2n)
    channel.payeeFunds.limitTo(limit)
    for (const listener of listeners) listener([])
  }
  return { chain, clock, start, newChannel, show, documents }
}

function spend({ payeeFunds }: PayeeChannel, amount: bigint): void {
  const hold = payeeFunds.reserve(amount)
  assert.ok(typeof hold === 'object', 'refused')
  hold.capture(amount)
}

describe('the credit against deposits that are not mined', () => {
  it('admits calls up to a cent for an address, until the deposit is in a block', async () => {
    const { start, newChannel, show } = await creditBench()
    const credit = await start()
    const channel = newChannel()
    assert.equal(channel.payeeFunds.reserve(1n), 'limit')
    assert.equal(await credit.give(channel, 1n, GAS), CENT)
    spend(channel, 9_000n)
    assert.equal(channel.payeeFunds.reserve(1_001n), 'limit')
    assert.deepEqual(credit.status, { used: CENT + GAS, max: DOLLAR })
    // The same address has no more in other channels.
    assert.equal(await credit.give(newChannel(channel.info.config.payer), 1n, GAS), 0n)
    show(channel)
    assert.deepEqual(credit.status, { used: 0n, max: DOLLAR })
    assert.equal(channel.payeeFunds.credit, 0n)
    assert.equal(await credit.give(newChannel(channel.info.config.payer), 1n, GAS), CENT)
  })

  it('is off by the rules, with little gas, and with too many channels', async () => {
    for (const off of [{ creditHourMax: 0n }, { creditAddressMax: 0n }, { creditHourMax: GAS }]) {
      const { start, newChannel } = await creditBench(off)
      assert.equal(await (await start()).give(newChannel(), 1n, GAS), 0n)
    }
    const { chain, start, newChannel } = await creditBench()
    const credit = await start()
    chain.isGasAmple = false
    assert.equal(await credit.give(newChannel(), 1n, GAS), 0n)
    chain.isGasAmple = true
    chain.channels = CREDIT_CHANNELS_MAX + 1
    assert.equal(await credit.give(newChannel(), 1n, GAS), 0n)
    chain.channels = CREDIT_CHANNELS_MAX
    assert.equal(await credit.give(newChannel(), 1n, GAS), CENT)
  })

  it('cannot cost more than the hourly total with gas, whatever the number of addresses and kills', async () => {
    const { clock, start, newChannel } = await creditBench()
    let lost = 0n
    const attack = async (credit: DepositCredit, addresses: number): Promise<void> => {
      await Promise.all(
        Array.from({ length: addresses }, async () => {
          const channel = newChannel()
          const amount = await credit.give(channel, 1n, GAS)
          if (amount === 0n) return
          spend(channel, amount)
          lost += amount + GAS
          await credit.end(channel.info.channelId)
        })
      )
    }
    await attack(await start(), 30)
    // A new process knows what an earlier one lent.
    const killed = await start()
    await attack(killed, 100)
    await attack(await start(), 100)
    assert.ok(lost <= DOLLAR && lost > DOLLAR - CENT - GAS, `${lost} lost`)
    const again = await start()
    assert.equal(await again.give(newChannel(), 1n, GAS), 0n)
    await clock.advance(CREDIT_LOST_MS)
    assert.equal(await again.give(newChannel(), 1n, GAS), CENT)
  })

  it('of a deposit that failed is over, and counts for an hour, also after a restart', async () => {
    const { clock, start, newChannel } = await creditBench()
    const credit = await start()
    const channel = newChannel()
    await credit.give(channel, 1n, GAS)
    spend(channel, 5_000n)
    await credit.end(channel.info.channelId)
    assert.equal(channel.payeeFunds.reserve(1n), 'limit')
    assert.equal(await credit.give(newChannel(channel.info.config.payer), 1n, GAS), 0n)
    await clock.advance(CREDIT_LOST_MS - 1_000)
    const later = await start()
    assert.equal(later.status.used, CENT + GAS)
    await clock.advance(1_000)
    assert.equal(later.status.used, 0n)
    assert.equal((await start()).status.used, 0n)
  })

  it('that an earlier process gave admits nothing, and counts until its deposit counts', async () => {
    const { clock, chain, start, newChannel, show, documents } = await creditBench()
    const channel = newChannel()
    await (await start()).give(channel, 1n, GAS)
    spend(channel, 5_000n)
    // Killed here: the credit has no end on disk.
    const credit = await start()
    assert.equal(channel.payeeFunds.credit, 0n)
    assert.equal(credit.status.used, CENT + GAS)
    // Its transaction may still fail.
    chain.isDepositing = true
    await clock.advance(2 * CREDIT_LOST_MS)
    assert.equal(credit.status.used, CENT + GAS)
    show(channel, 4_999n)
    assert.equal(credit.status.used, CENT + GAS)
    show(channel, 5_000n)
    assert.equal(credit.status.used, 0n)
    await settle()
    assert.deepEqual(await documents.list('deposit-credits'), [])
  })

  it('is not given if the deposit fails while the credit is written', async () => {
    const { start, newChannel } = await creditBench()
    const credit = await start()
    const channel = newChannel()
    const [amount] = await Promise.all([credit.give(channel, 1n, GAS), credit.end(channel.info.channelId)])
    assert.equal(amount, 0n)
    assert.equal(channel.payeeFunds.credit, 0n)
    assert.equal(credit.status.used, CENT + GAS)
  })
})
