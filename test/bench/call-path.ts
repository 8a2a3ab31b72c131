import { join } from 'node:path'
import { type CallPeers, startCallPeers } from './call-peers.ts'
import { diskWaitUs } from './disk-wait.ts'
import type { PaceResult } from './open-loop.ts'
import { type Key, MEASURE_MS, ROUNDS, Samples, warmUp } from './samples.ts'
import { median } from './statistics.ts'
import type { Ratio, Suite, SuiteContext, SuiteResult } from './suite.ts'

const CONCURRENCIES = [1, 32, 256]
const BULK_CONCURRENCY = 4
/** The share of the highest throughput at which p99 is measured. */
const LOAD_SHARE = 0.7
/** Calls per subject before the first round, made in parallel because single calls would take too long. */
const FIRST_CALLS = 15_000
const FIRST_CONCURRENCIES = [256, 32]

type SubjectName = keyof CallPeers['subjects']

/**
 * The latency of a call compared with its peers in one run. Subjects alternate within each round, and a ratio is the median of
 * the rounds' ratios, so that a temporary slowdown affects both sides.
 */
export const callPath: Suite = {
  name: 'path',
  async run(context) {
    await using peers = await startCallPeers(join(context.directory, 'path'))
    return report(peers, await sample(peers, context))
  }
}

interface Measured {
  readonly samples: Samples<SubjectName>
  readonly bulk: Samples<keyof CallPeers['bulk']>
  /** The full path under a part of its highest throughput. */
  readonly paced: PaceResult
  readonly diskUs: number
}

async function sample({ subjects, bulk }: CallPeers, { directory, say }: SuiteContext): Promise<Measured> {
  const names = Object.keys(subjects) as SubjectName[]
  const samples = new Samples<SubjectName>()
  const bulkSamples = new Samples<keyof CallPeers['bulk']>()
  const diskUs: number[] = []
  say('warming up')
  for (const name of names) await warmUp(subjects[name], FIRST_CONCURRENCIES, FIRST_CALLS)
  for (let round = 0; round < ROUNDS; round++) {
    say(`round ${round + 1} of ${ROUNDS}`)
    diskUs.push(diskWaitUs(directory))
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const concurrency of CONCURRENCIES) {
      for (const name of order) await samples.take(name, subjects[name], concurrency)
    }
    for (const name of ['direct', 'path'] as const) await bulkSamples.take(name, bulk[name], BULK_CONCURRENCY)
  }
  const most = Math.max(...CONCURRENCIES.map((concurrency) => samples.typical(`path@${concurrency}`, 'perSecond')))
  const { caller, target } = subjects.path
  const shape = { connections: 256, perSecond: LOAD_SHARE * most, measureMs: 2 * MEASURE_MS }
  const paced = await caller.ask<PaceResult>('pace', { ...target, ...shape })
  return { samples, bulk: bulkSamples, paced, diskUs: median(diskUs) }
}

function report({ subjects }: CallPeers, { samples, bulk, paced, diskUs }: Measured): SuiteResult {
  const ratio = samples.ratio.bind(samples)
  const path = 'full path ÷ one-hop proxy'
  const overlay = 'overlay calls ÷ undici to node:http'
  const ratios: Ratio[] = [
    { name: 'path_p50_at_1', value: ratio('path@1', 'proxy@1', 'p50Us'), better: 'lower', aim: 2.5, of: path, diskUs },
    { name: 'path_rps_at_32', value: ratio('path@32', 'proxy@32', 'perSecond'), better: 'higher', aim: 0.65, of: path },
    {
      name: 'path_rps_at_256',
      value: ratio('path@256', 'proxy@256', 'perSecond'),
      better: 'higher',
      aim: 0.75,
      of: path
    },
    {
      name: 'path_cpu_per_call',
      value: ratio('path@32', 'proxy@32', 'serverCpuUs'),
      better: 'lower',
      aim: 1.8,
      of: path
    },
    {
      name: 'overlay_rps_at_32',
      value: ratio('overlay@32', 'direct@32', 'perSecond'),
      better: 'higher',
      aim: 0.9,
      of: overlay
    },
    {
      name: 'overlay_rps_at_256',
      value: ratio('overlay@256', 'direct@256', 'perSecond'),
      better: 'higher',
      aim: 1.2,
      of: overlay
    }
  ]
  ratios.push(...costs(samples, diskUs), ...underLoad(bulk, paced))
  const paces = { p50_us: paced.p50Us, p99_us: paced.p99Us }
  const details = { ...samples.details(), bulk: bulk.details(), at_70: paces, disk_wait_us: diskUs }
  return { ratios, table: tabulate(subjects, samples), details, notes: notes(diskUs) }
}

function costs(samples: Samples<SubjectName>, diskUs: number): Ratio[] {
  const p50Us = (name: SubjectName) => samples.typical(`${name}@1`, 'p50Us')
  const cpuUs = (name: SubjectName) =>
    samples.typical(`${name}@32`, 'serverCpuUs') + samples.typical(`${name}@32`, 'callerCpuUs')
  return [
    {
      name: 'path_p50_at_1_without_disk',
      value: (p50Us('path') - diskUs) / p50Us('proxy'),
      better: 'lower',
      aim: 1.8,
      of: 'full path less the disk wait ÷ one-hop proxy'
    },
    {
      name: 'overlay_cpu_per_call',
      value: cpuUs('overlay') / cpuUs('direct'),
      better: 'lower',
      of: 'CPU of both ends at 32: overlay ÷ undici to node:http'
    },
    {
      name: 'overlay_sqlite_rps_at_32',
      value: samples.ratio('overlaySqlite@32', 'direct@32', 'perSecond'),
      better: 'higher',
      of: 'overlay calls on SQLite ÷ undici to node:http'
    },
    {
      name: 'heap_per_call',
      value: samples.typical('overlay@32', 'heapBytes') / 1_024,
      better: 'lower',
      aim: 8,
      of: 'KiB of heap that a call allocates in each process, overlay'
    }
  ]
}

function underLoad(bulk: Measured['bulk'], { p50Us, p99Us }: PaceResult): Ratio[] {
  return [
    {
      name: 'bulk_mbps_vs_direct',
      value: bulk.ratio(`path@${BULK_CONCURRENCY}`, `direct@${BULK_CONCURRENCY}`, 'perSecond'),
      better: 'higher',
      aim: 0.2,
      of: 'MB/s of 512 KiB bodies both ways, full path ÷ undici to node:http'
    },
    {
      name: 'p99_over_p50_at_70',
      value: p99Us / p50Us,
      better: 'lower',
      aim: 5,
      of: 'p99 ÷ p50 of the full path at 70% of its highest throughput, open loop'
    }
  ]
}

function tabulate(subjects: CallPeers['subjects'], samples: Samples<SubjectName>): SuiteResult['table'] {
  const typical = samples.typical.bind(samples)
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const cpu = (key: Key<SubjectName>) =>
    `${whole(typical(key, 'serverUserUs'))} + ${whole(typical(key, 'serverSystemUs'))}`
  const heading = [
    '',
    'p50 µs at 1',
    'p99 µs at 1',
    'calls/s at 32',
    'at 256',
    'CPU µs/call: caller',
    'servers at 1',
    'at 32',
    'at 256',
    'GC'
  ]
  const rows = (Object.keys(subjects) as SubjectName[]).map((name) => [
    subjects[name].title,
    whole(typical(`${name}@1`, 'p50Us')),
    whole(typical(`${name}@1`, 'p99Us')),
    whole(typical(`${name}@32`, 'perSecond')),
    whole(typical(`${name}@256`, 'perSecond')),
    whole(typical(`${name}@32`, 'callerCpuUs')),
    ...CONCURRENCIES.map((concurrency) => cpu(`${name}@${concurrency}`)),
    `${whole(100 * typical(`${name}@32`, 'gcShare'))}%`
  ])
  return [heading, ...rows]
}

function notes(diskUs: number): string[] {
  return [
    '1 KiB request and response; at 1, 32, 256: so many calls under way at any time.',
    `Medians of ${ROUNDS} rounds of ${MEASURE_MS} ms; CPU as user + system time of every process behind the caller; the caller's own and GC at 32.`,
    `The owner makes each call durable before it answers: this disk takes ${Math.round(diskUs)} µs for one page.`
  ]
}
