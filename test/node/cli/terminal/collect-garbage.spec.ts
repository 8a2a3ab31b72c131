import assert from 'node:assert/strict'
import { getHeapSpaceStatistics } from 'node:v8'
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { tuneCollector, collectBuffers, collectStartGarbage } from '../../../../node/cli/terminal/collect-garbage.ts'
import { eventually } from '../../../helpers/eventually.ts'

type GarbageCollection = PerformanceEntry & { readonly detail: { readonly kind?: number; readonly flags?: number } }

describe('the garbage of a start', () => {
  it('is collected at once', async () => {
    const garbage = new WeakRef({ large: 'x'.repeat(1_000) })
    // A target of a WeakRef is kept until the end of the turn that created it.
    await new Promise((resolve) => setImmediate(resolve))
    collectStartGarbage()
    assert.equal(garbage.deref(), undefined)
    assert.equal('gc' in globalThis, false)
  })
})

describe('the buffers of large bodies', () => {
  it('are collected while they are young, without a collection of the whole heap', async () => {
    const asked: number[] = []
    const observer = new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries() as GarbageCollection[]) {
        if (((detail.flags ?? 0) & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) asked.push(detail.kind ?? 0)
      }
    })
    observer.observe({ entryTypes: ['gc'] })
    const stop = collectBuffers()
    try {
      const isMinor = (kind: number) => kind === constants.NODE_PERFORMANCE_GC_MINOR
      const used: Buffer[] = []
      await eventually('the collection', 5_000, () => {
        // Some more each time, because V8 may free others of this process meanwhile.
        if (used.length < 3_000) used.push(...Array.from({ length: 100 }, () => Buffer.allocUnsafeSlow(64 * 1024)))
        return asked.some(isMinor) ? true : undefined
      })
    } finally {
      stop()
      observer.disconnect()
    }
    assert.equal('gc' in globalThis, false)
  })
})

describe('objects of which earlier ones lived long', () => {
  it('are allocated in the young generation', () => {
    tuneCollector()
    let last: unknown
    const make = (n: number) => (last = { n, list: [n], inner: { n } })
    /** Objects that survive collections, while the code is optimised. */
    const keepMany = () => Array.from({ length: 400_000 }, (_, n) => make(n)).length
    // A collection meanwhile may move others to the old generation, but not in each round.
    const grown = Array.from({ length: 3 }, () => {
      keepMany()
      const before = oldBytes()
      for (let n = 0; n < 20_000; n++) make(n)
      return oldBytes() - before
    })
    assert.deepEqual(last, { n: 19_999, list: [19_999], inner: { n: 19_999 } })
    // By default, each round adds 2.5 MB.
    assert.ok(Math.min(...grown) < 500_000, `${grown.join(', ')} bytes`)
  })
})

const oldBytes = (): number =>
  getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? Number.NaN
