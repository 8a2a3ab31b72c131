import type { LoadResult, LoadShape } from './closed-loop.ts'
import type { Player } from './player.ts'
import type { Spent } from './spending.ts'

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
  readonly serverUserUs: number
  readonly serverSystemUs: number
  readonly callerCpuUs: number
  /** The part of the CPU time of all processes that is garbage collection. */
  readonly gcShare: number
  /** Heap that one call allocates in a process: the mean of all processes. */
  readonly heapBytes: number
}

export async function measure({ caller, target, servers }: Subject, shape: LoadShape): Promise<Measurement> {
  const players = [caller, ...servers]
  await Promise.all(players.map((player) => player.ask('watch')))
  const { perSecond, p50Us, p99Us, callsWithWarmUp } = await caller.ask<LoadResult>('run', { ...target, ...shape })
  const spent = await Promise.all(players.map((player) => player.ask<Spent>('spent')))
  // What was spent includes the warm-up, and so do the calls.
  const sum = (of: keyof Spent, from = 0) => spent.slice(from).reduce((total, each) => total + each[of], 0)
  const each = (of: keyof Spent, from = 0) => sum(of, from) / callsWithWarmUp
  const cpuUs = sum('userUs') + sum('systemUs')
  const [serverUserUs, serverSystemUs] = [each('userUs', 1), each('systemUs', 1)]
  return {
    calls: callsWithWarmUp,
    perSecond,
    p50Us,
    p99Us,
    serverUserUs,
    serverSystemUs,
    serverCpuUs: serverUserUs + serverSystemUs,
    callerCpuUs: cpuUs / callsWithWarmUp - serverUserUs - serverSystemUs,
    gcShare: sum('gcUs') / cpuUs,
    heapBytes: each('heapBytes') / players.length
  }
}
