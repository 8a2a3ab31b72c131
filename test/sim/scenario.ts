import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import type { SignedManifest } from '../../lib/interface/manifest.ts'
import type { Address } from '../../lib/interface/signer.ts'
import type { PayRules } from '../../lib/pay/payer/pay-rules.ts'
import type { ChainFaults } from './chain.ts'
import { WITHDRAW_DELAY_S } from './contracts.ts'
import type { SimRules } from './invariants.ts'
import type { LinkFaults } from './link.ts'
import type { Rng } from './rng.ts'

/** The plan of a run, drawn from the seed. */
export interface Scenario {
  readonly owners: number
  readonly payers: number
  readonly price: bigint
  readonly rules: Partial<PayRules> & SimRules
  /** True if the daily cap may be reached. */
  readonly isCapped: boolean
  /** The minimum amount that an owner claims. */
  readonly redeemAtoms: bigint
  /** The initial balance of each payer's wallet. */
  readonly wallet: bigint
  readonly link: LinkFaults
  readonly chain: ChainFaults
  /** The probability that a commit kills its process, and the duration of a commit. */
  readonly crash: number
  readonly commitMs: number
  readonly upstreamMs: number
  /** The times of faults at the nodes, in milliseconds. */
  readonly troubleMs: number
  readonly calls: readonly PlannedCall[]
  readonly kills: ReadonlyArray<{ readonly at: number; readonly node: number }>
  readonly cuts: ReadonlyArray<{ readonly at: number; readonly node: number; readonly forMs: number }>
  /** The time when the chain's endpoint is unavailable. */
  readonly outage?: { readonly at: number; readonly forMs: number }
  readonly leave?: Leave
  /** A payer moves its money away, so that deposits on their way revert, and may bring it back. */
  readonly drain?: { readonly payer: number; readonly at: number; readonly backAt?: number }
}

export interface PlannedCall {
  readonly at: number
  readonly payer: number
  readonly timeoutMs: number
  /** True if a failed call is repeated manually under the same id. */
  readonly isRepeated: boolean
}

/** The first payer withdraws its money: with its owners, without them, or without its own node's knowledge. */
export interface Leave {
  readonly at: number
  readonly how: 'closes' | 'withdraws' | 'deserts'
}

/** The duration of the fault phase, also if a view of the chain becomes too old. */
const TROUBLE_MS = 40_000
const LONG_TROUBLE_MS = 320_000

export function scenarioOf(rng: Rng): Scenario {
  const price = rng.pick([1n, 100n, 1_500n, 20_000n])
  const owners = rng.pick([1, 1, 1, 2])
  const payers = rng.pick([1, 1, 2])
  const deposit = price * rng.pick([4n, 20n, 60n])
  const isCapped = rng.chance(0.15)
  const some = (most: number) => (rng.chance(0.5) ? rng.fraction() * most : 0)
  const isLong = rng.chance(0.08)
  const troubleMs = isLong ? LONG_TROUBLE_MS : TROUBLE_MS
  const timed = <T>(most: number, more: (at: number) => T): T[] =>
    Array.from({ length: rng.between(0, most) }, () => more(rng.between(0, troubleMs)))
  const bursts = Array.from({ length: rng.between(2, 5) }, () => rng.between(0, troubleMs - 5_000))
  const callAt = (at: number, payer: number): PlannedCall => ({
    at,
    payer,
    timeoutMs: rng.pick([1_200, 6_000, 15_000]),
    isRepeated: rng.chance(0.3)
  })
  const calls = Array.from({ length: rng.between(5, 16) }, () =>
    callAt(rng.pick(bursts) + rng.pick([0, 0, rng.between(0, 3_000)]), rng.between(0, payers - 1))
  )
  const how = rng.pick(['closes', 'withdraws', 'deserts'] as const)
  const leave = rng.chance(0.2) ? { at: rng.between(6_000, TROUBLE_MS / 2), how } : undefined
  // A departing payer may still try to call.
  if (leave !== undefined) for (let i = 0; i < 3; i++) calls.push(callAt(leave.at + rng.between(3_000, 15_000), 0))
  const drainAt = rng.pick(bursts) + rng.between(0, 3_000)
  const backAt = rng.chance(0.6) ? { backAt: drainAt + rng.between(500, 15_000) } : {}
  const drain = rng.chance(0.3) ? { payer: rng.between(0, payers - 1), at: drainAt, ...backAt } : undefined
  const creditAddressMax = price * rng.pick([0n, 1n, 3n, 10n])
  const outage = isLong ? { at: rng.between(15_000, 30_000), forMs: rng.between(60_000, 270_000) } : undefined
  return {
    owners,
    payers,
    price,
    isCapped,
    rules: {
      windowCalls: rng.pick([0, 2, 20]),
      windowAtoms: 10n ** 6n,
      exposureMax: price * rng.pick([2n, 6n, 40n]),
      priceMax: price,
      dailyMax: price * (isCapped ? 4n : 10_000n),
      deposit,
      depositMin: deposit,
      creditAddressMax,
      // The gas of one deposit costs an atom here.
      creditHourMax: rng.pick([creditAddressMax + 1n, 4n * (creditAddressMax + 1n)]),
      withdrawDelay: WITHDRAW_DELAY_S
    },
    redeemAtoms: price * rng.pick([2n, 8n, 1_000n]),
    wallet: deposit * 1_000n,
    link: {
      delayMs: rng.pick([5, 40, 300]),
      drop: some(0.06),
      duplicate: some(0.1),
      reorder: some(0.1),
      cut: some(0.06)
    },
    chain: {
      reorg: some(0.15),
      passedOver: some(0.5),
      forgotten: some(0.1),
      away: some(0.3),
      lag: rng.pick([0, 0, 1, 3])
    },
    crash: some(0.08),
    commitMs: rng.pick([0, 0, 8, 60]),
    upstreamMs: rng.pick([20, 400, 3_000]),
    troubleMs,
    calls,
    kills: timed(4, (at) => ({ at, node: rng.between(0, owners + payers - 1) })),
    cuts: timed(2, (at) => ({ at, node: rng.between(0, owners + payers - 1), forMs: rng.between(100, 8_000) })),
    ...(outage && { outage }),
    ...(leave && { leave }),
    ...(drain && { drain })
  }
}

export const PAYOUT: Address = `0x${'ee'.repeat(20)}`
const peerId = (letter: string): string => `12D3KooW${letter.repeat(44)}`
const PROVIDER = peerId('P')

/** The participants. Their keys are the same in every run. */
export const OWNERS = [person('owner-1', 1), person('owner-2', 2)]
export const PAYERS = [person('payer-1', 3), person('payer-2', 4)]

function person(name: string, key: number) {
  return { name, peer: peerId('0ABCD'.charAt(key)), signer: keySigner(new Uint8Array(32).fill(key)) }
}

export function manifestOf(price: bigint): SignedManifest {
  const name = 'ticker'
  return {
    id: `${name}@${PROVIDER}`,
    envelope: new Uint8Array(0),
    manifest: {
      name,
      provider: PROVIDER,
      protocol: 'REST',
      description: '',
      tags: [],
      price,
      currency: 'USDC',
      payout: PAYOUT,
      idempotent: false,
      api: { operations: [] },
      state: 'published',
      revision: 1,
      issuedAt: 0,
      expiresAt: 2 ** 45
    }
  }
}
