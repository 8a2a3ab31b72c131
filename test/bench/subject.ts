import type { LoadResult, LoadShape } from './closed-loop.ts'
import type { Player } from './player.ts'

/** The way of the calls under test, and their caller. */
export interface Subject {
  readonly title: string
  /** Generates the load on `run`. */
  readonly caller: Player
  /** Added to the load's shape. */
  readonly target: object
  /** Every process behind the caller. */
  readonly servers: readonly Player[]
}

export interface Measurement {
  /** Including the warm-up. */
  readonly calls: number
  readonly perSecond: number
  readonly p50Us: number
  readonly p99Us: number
  /** CPU time of one call. */
  readonly serverCpuUs: number
  readonly callerCpuUs: number
}

export async function measure({ caller, target, servers }: Subject, shape: LoadShape): Promise<Measurement> {
  const cpuUs = () => Promise.all([caller, ...servers].map((player) => player.cpuUs()))
  const before = await cpuUs()
  const { perSecond, p50Us, p99Us, callsWithWarmUp } = await caller.ask<LoadResult>('run', { ...target, ...shape })
  const after = await cpuUs()
  // CPU time includes the warm-up, and so do the calls.
  const [callerCpuUs = 0, ...serverCpuUs] = after.map((us, index) => (us - (before[index] ?? 0)) / callsWithWarmUp)
  return {
    calls: callsWithWarmUp,
    perSecond,
    p50Us,
    p99Us,
    callerCpuUs,
    serverCpuUs: serverCpuUs.reduce((sum, us) => sum + us, 0)
  }
}
