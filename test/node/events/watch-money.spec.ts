import assert from 'node:assert/strict'
import { limits, systemRandom } from '../../../lib/index.ts'
import type { Address, Documents, SettledTransaction } from '../../../lib/interface/index.ts'
import { Events } from '../../../node/events/events.ts'
import { MoneyWatch, type MoneyWatchInit } from '../../../node/events/watch-money.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'
import { memoryDocuments } from '../ingress/harness.ts'

/** As `FinalTransactions` lists them: newest block first. */
const inOrder = (transactions: readonly SettledTransaction[]) =>
  transactions.toSorted((a, b) => Number(b.block - a.block) || (a.hash < b.hash ? 1 : -1))

const WALLET: Address = `0x${'a'.repeat(40)}`

describe('money events', () => {
  let clock: ManualClock
  let documents: Documents
  let events: Events
  let final: SettledTransaction[]
  let balance: bigint
  let claimsInHand: number

  /** Minimal books and wallet, with only the members that are used. */
  const money = () =>
    ({
      wallet: WALLET,
      paymentScheme: {
        settlement: {
          transactions: { latest: (_: string, limit: number) => inOrder(final).slice(0, limit) },
          redeemer: { status: () => ({ claimsInHand }) }
        },
        channels: () => [{ role: 'owner' }, { role: 'payer' }],
        wallet: { balance: async () => ({ latest: balance, finalized: balance, wei: 1n }) }
      }
    }) as unknown as MoneyWatchInit['money']
  const watch = () => new MoneyWatch({ money: money(), events, documents, clock })
  const told = () => events.feed.last().map(({ type, data }) => [type, data['transaction'] ?? data['balance'] ?? ''])
  const transaction = (n: number, succeeded = true): SettledTransaction => ({
    key: `claim/${n}`,
    hash: `0x${n}`,
    block: BigInt(n),
    succeeded,
    cost: 10n ** 15n
  })

  beforeEach(() => {
    clock = manualClock()
    documents = memoryDocuments()
    events = new Events({ clock, random: systemRandom, log: { error: (line) => assert.fail(line) } })
    final = [transaction(1)]
    balance = limits.WALLET_LOW_ATOMS
    claimsInHand = Number(limits.CLAIMS_IN_HAND_MIN)
  })

  it('report each newly final transaction once, also over a restart', async () => {
    await watch().look()
    assert.deepEqual(told(), [])
    final.push(transaction(2), transaction(3, false))
    await watch().look()
    final.push({ ...transaction(3), hash: '0x33' })
    await watch().look()
    await watch().look()
    assert.deepEqual(told(), [
      ['settlement.made', '0x2'],
      ['settlement.failed', '0x3'],
      ['settlement.made', '0x33']
    ])
    assert.deepEqual(events.feed.last()[0]?.data, { what: 'claim', transaction: '0x2', block: '2', cost: '0.001' })
  })

  it('report a transaction that becomes final after one of a later block', async () => {
    await watch().look()
    final.push(transaction(3))
    await watch().look()
    final.push(transaction(2))
    await watch().look()
    await watch().look()
    assert.deepEqual(told(), [
      ['settlement.made', '0x3'],
      ['settlement.made', '0x2']
    ])
  })

  it('report a transaction once after older ones have left the list', async () => {
    final = Array.from({ length: limits.FINAL_TOLD_MAX }, (_, i) => transaction(i + 1))
    await watch().look()
    final.push(transaction(5_000))
    await watch().look()
    final.push(transaction(4_000))
    await watch().look()
    assert.deepEqual(told(), [
      ['settlement.made', '0x5000'],
      ['settlement.made', '0x4000']
    ])
  })

  it('report what became final after a check of an earlier version', async () => {
    await documents.put('events-told', 'transactions', JSON.stringify({ block: '2', hashes: ['0x2'] }))
    final.push(transaction(2), { ...transaction(2), hash: '0x22' }, transaction(3))
    await watch().look()
    await watch().look()
    assert.deepEqual(told(), [
      ['settlement.made', '0x22'],
      ['settlement.made', '0x3']
    ])
  })

  it('report a low wallet once, and again after it was refilled', async () => {
    const one = watch()
    await one.look()
    balance = 0n
    claimsInHand = 1
    await one.look()
    await one.look()
    assert.deepEqual(told(), [
      ['wallet.gas_low', ''],
      ['wallet.balance_low', '0']
    ])
    balance = limits.WALLET_LOW_ATOMS
    await one.look()
    balance = 1n
    await one.look()
    assert.deepEqual(told().at(-1), ['wallet.balance_low', '0.000001'])
    assert.equal(told().length, 3)
  })

  it('poll at intervals, until stopped', async () => {
    const one = watch()
    one.start()
    await clock.advance(1)
    final.push(transaction(2))
    await clock.advance(limits.MONEY_LOOK_MS)
    assert.deepEqual(told(), [['settlement.made', '0x2']])
    await one.stop()
    final.push(transaction(9))
    await clock.advance(limits.MONEY_LOOK_MS * 2)
    assert.equal(told().length, 1)
  })
})
