import { statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../lib/base/clock.ts'
import { KEEP_DAYS, KEEP_FREE_CALLS_MS, TRIM_ROWS } from '../../lib/base/limits/store.ts'
import { DAY_MS } from '../../lib/base/limits/time.ts'
import { systemRandom } from '../../lib/base/random.ts'
import { requestIds } from '../../lib/base/request-id.ts'
import type { Store } from '../../lib/interface/store.ts'
import { createSqliteStore } from '../../lib/store/sqlite/store.ts'
import { callRecord } from '../helpers/call-record.ts'
import { fillStore, LARGE_API, largePeer } from '../helpers/large-store.ts'
import { median } from './statistics.ts'
import type { Suite } from './suite.ts'

const ROWS = [10_000, 10_000_000] as const
const ROUNDS = 5
/** Calls per round, and the number in flight. */
const APPENDS = 4_000
const AT_ONCE = 64
const READS = 2_000
const SLICES = 40
const CALL = { api: LARGE_API, charged: 100n } as const
const ids = requestIds(systemClock, systemRandom)

interface Figures {
  readonly openMs: number
  /** Microseconds each. */
  readonly appendUs: number
  readonly findUs: number
  readonly recentUs: number
  readonly sliceMs: number
  readonly mebibytes: number
}

/** The costs of a large store: opening, writing, reading and deleting. */
export const growth: Suite = {
  name: 'growth',
  async run({ directory, say }) {
    const figures: Figures[] = []
    for (const rows of ROWS) {
      const path = join(directory, `${rows}.db`)
      say(`makes a store of ${rows} calls`)
      await fillStore(path, rows, Date.now())
      say('measures')
      figures.push(await measure(path))
    }
    const [small, large] = figures as [Figures, Figures]
    const ratio = (name: string, of: (figures: Figures) => number) => {
      return {
        name,
        value: of(large) / of(small),
        better: 'lower',
        aim: 1.1,
        of: 'ten million rows ÷ ten thousand'
      } as const
    }
    return {
      ratios: [
        ratio('growth-append', ({ appendUs }) => appendUs),
        ratio('growth-find', ({ findUs }) => findUs),
        ratio('growth-recent', ({ recentUs }) => recentUs)
      ],
      table: [
        ['rows', 'open ms', 'append µs', 'find µs', 'recent µs', 'trim slice ms', 'MiB'],
        ...ROWS.map((rows, i) => [String(rows), ...Object.values(figures[i] ?? {}).map((value) => value.toFixed(1))])
      ],
      notes: [
        `Opening is the median of ${ROUNDS}; its aim is 1,000 ms. An append is a paid call with its entry, ${AT_ONCE} at once.`,
        `A trim slice looks at ${TRIM_ROWS} rows and deletes those that are due. Both stores are in the page cache.`
      ],
      details: figures
    }
  }
}

async function measure(path: string): Promise<Figures> {
  const opens: number[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const store = createSqliteStore({ path })
    const startedAt = performance.now()
    await store.open()
    await store.ledger.balance('earned/1')
    await store.calls.usage()
    opens.push(performance.now() - startedAt)
    await store.close()
  }
  const store = createSqliteStore({ path })
  await store.open()
  const figures = {
    openMs: median(opens),
    appendUs: await perOne(APPENDS, () => append(store)),
    findUs: await perOne(READS, () => find(store)),
    recentUs: await perOne(READS, async () => {
      for (let n = 0; n < READS; n++) await store.calls.recent({ api: LARGE_API, limit: 20 })
    }),
    sliceMs: (await perOne(SLICES, () => trim(store))) / 1_000,
    mebibytes: statSync(path).size / 1024 ** 2
  }
  await store.close()
  return figures
}

/** The median of several rounds, in microseconds per item. */
async function perOne(count: number, task: () => Promise<void>): Promise<number> {
  const rounds: number[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const startedAt = performance.now()
    await task()
    rounds.push(((performance.now() - startedAt) * 1_000) / count)
  }
  return median(rounds)
}

async function append(store: Store): Promise<void> {
  for (let done = 0; done < APPENDS; done += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => {
        const postings = [
          { account: `receivable/${n}`, amount: 100n },
          { account: `earned/${n}`, amount: -100n }
        ]
        const record = callRecord({ ...CALL, requestId: ids.next(), peer: largePeer(n), at: Date.now() })
        return store.calls.append(record, { postings })
      })
    )
  }
}

async function find(store: Store): Promise<void> {
  const recent = await store.calls.recent({ limit: 100 })
  for (let n = 0; n < READS; n++) {
    const call = recent[n % recent.length]
    if (call !== undefined) await store.calls.find(call.peer, call.requestId)
  }
}

async function trim(store: Store): Promise<void> {
  const now = Date.now()
  for (let n = 0; n < SLICES; n++) {
    await store.retention.trim({
      before: now - KEEP_DAYS * DAY_MS,
      freeBefore: now - KEEP_FREE_CALLS_MS,
      now: now + DAY_MS,
      kinds: [],
      isDue: () => true,
      limit: TRIM_ROWS
    })
  }
}
