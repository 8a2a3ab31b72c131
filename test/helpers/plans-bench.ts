import { type Clock, systemClock } from '../../lib/base/clock.ts'
import type { NodeOptions, SoukNode } from '../../lib/create-node.ts'
import type { ListingInit } from '../../lib/interface/souk.ts'
import { handler } from '../../lib/owner/handler.ts'
import { createTestnet, type Testnet } from '../../lib/testing/testnet.ts'

/** The system's clock with wall time that a test can shift. Timers and durations are unaffected. */
export interface ShiftedClock extends Clock {
  shift(ms: number): void
  /** Runs the pending tasks with this delay now. */
  hurry(delayMs: number): void
}

export function shiftedClock(): ShiftedClock {
  let by = 0
  const pending = new Map<() => void, number>()
  return {
    ...systemClock,
    now: () => systemClock.now() + by,
    shift: (ms) => void (by += ms),
    after(delayMs, task) {
      const end = () => {
        pending.delete(run)
        timer.cancel()
      }
      const run = () => {
        end()
        task()
      }
      const timer = systemClock.after(delayMs, run)
      pending.set(run, delayMs)
      return { cancel: end }
    },
    hurry(delayMs) {
      const due = [...pending].filter(([, delay]) => delay === delayMs)
      for (const [run] of due) run()
    }
  }
}

/** An owner and a consumer on real links. The API doubles a number, and fails on request. */
export interface PlansBench {
  readonly net: Testnet
  readonly clock: ShiftedClock
  readonly owner: SoukNode
  readonly consumer: SoukNode
  readonly reached: () => number
  serve(terms: Partial<ListingInit>): Promise<void>
}

export async function plansBench(options: (index: number) => NodeOptions = () => ({})): Promise<PlansBench> {
  const clock = shiftedClock()
  const net = await createTestnet({ options: (index) => ({ clock, ...options(index) }) })
  const [owner, consumer] = net.nodes
  if (owner === undefined || consumer === undefined) throw new Error('the network has no nodes')
  let reached = 0
  return {
    net,
    clock,
    owner,
    consumer,
    reached: () => reached,
    async serve(terms) {
      const double = handler(({ body }) => {
        reached++
        if (body === 'fail') throw new Error('as it was asked to')
        return Number(body) * 2
      })
      await owner.souk.serve({ name: 'double', price: '0.001', ...terms }, double)
    }
  }
}
