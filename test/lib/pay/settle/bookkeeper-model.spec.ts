import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { systemClock } from '../../../../lib/base/clock.ts'
import type { ChannelConfig, ChannelId } from '../../../../lib/interface/channel.ts'
import type { Ledger } from '../../../../lib/interface/ledger.ts'
import type { OwnedChannel } from '../../../../lib/interface/redeem.ts'
import type { Address } from '../../../../lib/interface/signer.ts'
import { Bookkeeper, type BookkeeperInit } from '../../../../lib/pay/settle/bookkeeper.ts'
import { splitterFactory } from '../../../../lib/pay/chain/splitter.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'

const address = (byte: string): Address => `0x${byte.repeat(20)}`
const PAYOUTS = [address('a1'), address('a2')]
const FACTORY = splitterFactory(address('dd'))
const SPLITTERS = PAYOUTS.map((payout) => FACTORY.splitterOf(payout))
const CHANNELS = Array.from({ length: 4 }, (_, i): ChannelId => `0x${String(i).repeat(64)}`)
const receiverOf = (channel: number): Address => SPLITTERS[channel % 2]!

/** The contracts' counters and the rules for their changes. */
class Counters {
  block = 1n
  readonly claimed = CHANNELS.map(() => 0n)
  readonly bySplitter = new Map(
    SPLITTERS.map((splitter) => [splitter, { claimed: 0n, settled: 0n, balance: 0n, toProvider: 0n, toTreasury: 0n }])
  )

  of(splitter: Address) {
    return this.bySplitter.get(splitter) ?? assert.fail('no such splitter')
  }

  claim(channel: number, amount: bigint): void {
    this.claimed[channel]! += amount
    this.of(receiverOf(channel)).claimed += amount
  }

  settle(splitter: Address): void {
    const state = this.of(splitter)
    state.balance += state.claimed - state.settled
    state.settled = state.claimed
  }

  pay(splitter: Address, sides: 'both' | 'provider' | 'treasury'): void {
    const state = this.of(splitter)
    const received = state.balance + state.toProvider + state.toTreasury
    const treasury = sides === 'provider' ? 0n : received / 20n - state.toTreasury
    const provider = sides === 'treasury' ? 0n : received - received / 20n - state.toProvider
    state.toTreasury += treasury
    state.toProvider += provider
    state.balance -= treasury + provider
  }

  readonly chain: BookkeeperInit['chain'] = {
    parameters: { chainId: 31337 } as BookkeeperInit['chain']['parameters'],
    block: async () => ({ number: this.block, hash: '0x', at: Number(this.block) }),
    channels: async (ids) => ({
      block: { number: this.block, hash: '0x', at: 0 },
      channels: ids.map((id) => ({ balance: 0n, claimed: this.claimed[CHANNELS.indexOf(id)]!, refundNonce: 0n }))
    }),
    receiver: async (splitter) => this.of(splitter),
    splitter: async (splitter) => {
      const { balance, toProvider, toTreasury } = this.of(splitter)
      return { received: balance + toProvider + toTreasury, toProvider, toTreasury }
    }
  }
}

type Step =
  | { readonly kind: 'claim'; readonly channel: number; readonly amount: bigint }
  | { readonly kind: 'others' | 'gift'; readonly splitter: number; readonly amount: bigint }
  | { readonly kind: 'settle'; readonly splitter: number }
  | { readonly kind: 'pay'; readonly splitter: number; readonly sides: 'both' | 'provider' | 'treasury' }
  | { readonly kind: 'look' }
  | { readonly kind: 'killed look'; readonly writes: number }
  | { readonly kind: 'close'; readonly channel: number }

const channel = fc.nat({ max: CHANNELS.length - 1 })
const splitter = fc.nat({ max: SPLITTERS.length - 1 })
const amount = fc.bigInt({ min: 1n, max: 10_000n })
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('claim' as const), channel, amount }),
    fc.record({ kind: fc.constantFrom('others' as const, 'gift' as const), splitter, amount }),
    fc.record({ kind: fc.constant('settle' as const), splitter }),
    fc.record({
      kind: fc.constant('pay' as const),
      splitter,
      sides: fc.constantFrom('both' as const, 'provider' as const, 'treasury' as const)
    }),
    fc.record({ kind: fc.constant('look' as const) }),
    fc.record({ kind: fc.constant('killed look' as const), writes: fc.nat({ max: 8 }) }),
    fc.record({ kind: fc.constant('close' as const), channel })
  ),
  { maxLength: 40 }
)

const TURNS = 200
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the bookkeeper, compared with the contracts’ counters', () => {
  it('agrees with them after each read, whoever moved money, and wherever it was killed', async () => {
    await fc.assert(fc.asyncProperty(steps, play), { numRuns: 200 })
  })
})

async function play(steps: readonly Step[]): Promise<void> {
  const counters = new Counters()
  const store = createMemoryStore()
  await store.open()
  const closed = new Set<number>()
  const owned = (i: number): OwnedChannel => ({
    channelId: CHANNELS[i]!,
    config: { receiver: receiverOf(i) } as ChannelConfig,
    captured: counters.claimed[i]!
  })
  const indices = CHANNELS.map((_, i) => i)
  const start = async (ledger: Pick<Ledger, 'book'>): Promise<Bookkeeper> => {
    const keeper = new Bookkeeper({
      chain: counters.chain,
      // No automatic reads: the model triggers them.
      clock: { ...systemClock, after: () => ({ cancel: () => undefined }) },
      documents: store.documents,
      ledger,
      books: {
        channels: () => indices.filter((i) => !closed.has(i)).map(owned),
        closed: () => [...closed].map(owned),
        payouts: () => PAYOUTS
      },
      watch: { snapshot: () => undefined },
      factory: FACTORY,
      onError: (error) => assert.fail(error)
    })
    await keeper.start()
    return keeper
  }
  for (const step of [...steps, { kind: 'look' } as const]) {
    counters.block++
    if (step.kind === 'claim' && !closed.has(step.channel)) counters.claim(step.channel, step.amount)
    else if (step.kind === 'others') counters.of(SPLITTERS[step.splitter]!).claimed += step.amount
    else if (step.kind === 'gift') counters.of(SPLITTERS[step.splitter]!).balance += step.amount
    else if (step.kind === 'settle') counters.settle(SPLITTERS[step.splitter]!)
    else if (step.kind === 'pay') counters.pay(SPLITTERS[step.splitter]!, step.sides)
    else if (step.kind === 'close') closed.add(step.channel)
    else if (step.kind === 'killed look') await killedAfter(step.writes, store.ledger, start)
    else if (step.kind === 'look') {
      const keeper = await start(store.ledger)
      await keeper.look()
      await keeper.stop()
      await agree(counters, store.ledger)
    }
  }
}

/** A read by a process that dies at its n-th write, before or after it. */
async function killedAfter(
  writes: number,
  ledger: Ledger,
  start: (ledger: Pick<Ledger, 'book'>) => Promise<Bookkeeper>
): Promise<void> {
  let instants = 0
  const never = new Promise<never>(() => undefined)
  await start({
    book: async (...entry) => {
      if (instants++ >= writes) return never
      const isNew = await ledger.book(...entry)
      return instants++ >= writes ? never : isNew
    }
  })
  for (let i = 0; i < TURNS; i++) await turn()
}

async function agree(counters: Counters, ledger: Ledger): Promise<void> {
  const all = await ledger.balances('')
  assert.equal(
    all.reduce((sum, { amount }) => sum + amount, 0n),
    0n
  )
  for (const [i, channelId] of CHANNELS.entries()) {
    assert.equal(-(await ledger.balance(`receivable/${channelId}`)), counters.claimed[i])
  }
  for (const [splitter, { claimed, settled, balance, toProvider, toTreasury }] of counters.bySplitter) {
    const booked = Object.fromEntries(
      await Promise.all(
        ['claimed', 'splitter', 'payout', 'treasury'].map(async (name) => [
          name,
          await ledger.balance(`${name}/${splitter}`)
        ])
      )
    ) as Record<string, bigint>
    const expected = { claimed: claimed - settled, splitter: balance, payout: toProvider, treasury: toTreasury }
    assert.deepEqual(booked, expected)
  }
}
