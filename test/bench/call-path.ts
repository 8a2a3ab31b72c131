import { join } from 'node:path'
import { type CallPeers, startCallPeers } from './call-peers.ts'
import { diskWaitUs } from './disk-wait.ts'
import { median } from './statistics.ts'
import type { Ratio, Suite, SuiteContext, SuiteResult } from './suite.ts'
import { measure, type Measurement, type Subject } from './subject.ts'

const CONCURRENCIES = [1, 32, 256]
/** Enough that a median stands against a disturbance in two of them. */
const ROUNDS = 5
const MEASURE_MS = 800
const WARM_UP_MS = 100
/** Before the first round, of each subject: fewer, and V8 is still compiling what is measured; that was three times as slow. */
const FIRST_CALLS = 15_000
const FIRST_SLICE_MS = 500
const FIRST_SLICES_MAX = 12

type SubjectName = keyof CallPeers['subjects']
type Key = `${SubjectName}@${number}`
type Samples = Map<Key, Measurement[]>

/**
 * The way of a call, against its peers, in one run: subjects take turns within each round, and a ratio is the median of the
 * ratios of the rounds, so that whatever slows the machine for a while slows both sides of it.
 */
export const callPath: Suite = {
  name: 'path',
  async run(context) {
    await using peers = await startCallPeers(join(context.directory, 'path'))
    const { samples, diskUs } = await sample(peers, context)
    return report(peers, samples, median(diskUs))
  }
}

async function sample({ subjects }: CallPeers, { directory, say }: SuiteContext) {
  const names = Object.keys(subjects) as SubjectName[]
  const samples: Samples = new Map()
  const diskUs: number[] = []
  say('warming up')
  for (const name of names) await warmUp(subjects[name])
  for (let round = 0; round < ROUNDS; round++) {
    say(`round ${round + 1} of ${ROUNDS}`)
    diskUs.push(diskWaitUs(directory))
    const order = round % 2 === 0 ? names : names.toReversed()
    for (const concurrency of CONCURRENCIES) {
      for (const name of order) {
        const shape = { concurrency, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS }
        const key: Key = `${name}@${concurrency}`
        samples.set(key, [...(samples.get(key) ?? []), await measure(subjects[name], shape)])
      }
    }
  }
  return { samples, diskUs }
}

async function warmUp(subject: Subject): Promise<void> {
  let calls = 0
  for (let slice = 0; slice < FIRST_SLICES_MAX && calls < FIRST_CALLS; slice++) {
    // The last ones: with one call at a time it would take for ever.
    const concurrency = CONCURRENCIES.at(slice % 2 === 0 ? -1 : -2) ?? 1
    calls += (await measure(subject, { concurrency, warmUpMs: 0, measureMs: FIRST_SLICE_MS })).calls
  }
}

function report({ subjects }: CallPeers, samples: Samples, diskUs: number): SuiteResult {
  const values = (key: Key, of: keyof Measurement) => (samples.get(key) ?? []).map((sample) => sample[of])
  const typical = (key: Key, of: keyof Measurement) => median(values(key, of))
  const ratio = (ours: Key, peer: Key, of: keyof Measurement): number => {
    const peers = values(peer, of)
    return median(values(ours, of).map((value, round) => value / (peers[round] ?? Number.NaN)))
  }
  const path = 'full path ÷ one-hop proxy'
  const overlay = 'overlay calls ÷ undici to node:http'
  const ratios: Ratio[] = [
    { name: 'path_p50_at_1', value: ratio('path@1', 'proxy@1', 'p50Us'), better: 'lower', aim: 2.5, of: path },
    { name: 'path_rps_at_32', value: ratio('path@32', 'proxy@32', 'perSecond'), better: 'higher', aim: 0.4, of: path },
    {
      name: 'path_rps_at_256',
      value: ratio('path@256', 'proxy@256', 'perSecond'),
      better: 'higher',
      aim: 0.4,
      of: path
    },
    { name: 'path_cpu_per_call', value: ratio('path@32', 'proxy@32', 'serverCpuUs'), better: 'lower', of: path },
    {
      name: 'overlay_rps_at_32',
      value: ratio('overlay@32', 'direct@32', 'perSecond'),
      better: 'higher',
      aim: 1.2,
      of: overlay
    },
    {
      name: 'overlay_rps_at_256',
      value: ratio('overlay@256', 'direct@256', 'perSecond'),
      better: 'higher',
      aim: 1.8,
      of: overlay
    }
  ]
  return { ratios, ...tabulate(subjects, typical), details: details(samples, typical, diskUs), notes: notes(diskUs) }
}

type Typical = (key: Key, of: keyof Measurement) => number

function tabulate(subjects: CallPeers['subjects'], typical: Typical): Pick<SuiteResult, 'table'> {
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const heading = ['', 'p50 µs at 1', 'p99 µs at 1', 'calls/s at 32', 'at 256', 'CPU µs/call: servers', 'and caller']
  const rows = (Object.keys(subjects) as SubjectName[]).map((name) => [
    subjects[name].title,
    whole(typical(`${name}@1`, 'p50Us')),
    whole(typical(`${name}@1`, 'p99Us')),
    whole(typical(`${name}@32`, 'perSecond')),
    whole(typical(`${name}@256`, 'perSecond')),
    whole(typical(`${name}@32`, 'serverCpuUs')),
    whole(typical(`${name}@32`, 'callerCpuUs'))
  ])
  return { table: [heading, ...rows] }
}

function notes(diskUs: number): string[] {
  return [
    '1 KiB request and response; at 1, 32, 256: so many calls under way at any time.',
    `Medians of ${ROUNDS} rounds of ${MEASURE_MS} ms; CPU at 32, of every process behind the caller, and of the caller's own.`,
    `The owner makes each call durable before it answers: this disk takes ${Math.round(diskUs)} µs for one page.`
  ]
}

function details(samples: Samples, typical: Typical, diskUs: number) {
  const medians = Object.fromEntries(
    [...samples.keys()].map((key) => [
      key,
      {
        calls_per_second: typical(key, 'perSecond'),
        p50_us: typical(key, 'p50Us'),
        p99_us: typical(key, 'p99Us'),
        server_cpu_us: typical(key, 'serverCpuUs'),
        caller_cpu_us: typical(key, 'callerCpuUs')
      }
    ])
  )
  return { medians, disk_wait_us: diskUs, rounds: ROUNDS, measure_ms: MEASURE_MS }
}
