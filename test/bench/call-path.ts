import { join } from 'node:path'
import { type CallPeers, startCallPeers } from './call-peers.ts'
import { diskWaitUs } from './disk-wait.ts'
import { MEASURE_MS, ROUNDS, Samples, warmUp } from './samples.ts'
import { median } from './statistics.ts'
import type { Ratio, Suite, SuiteContext, SuiteResult } from './suite.ts'

const CONCURRENCIES = [1, 32, 256]
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
    const { samples, diskUs } = await sample(peers, context)
    return report(peers, samples, median(diskUs))
  }
}

async function sample({ subjects }: CallPeers, { directory, say }: SuiteContext) {
  const names = Object.keys(subjects) as SubjectName[]
  const samples = new Samples<SubjectName>()
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
  }
  return { samples, diskUs }
}

function report({ subjects }: CallPeers, samples: Samples<SubjectName>, diskUs: number): SuiteResult {
  const ratio = samples.ratio.bind(samples)
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
  const details = { ...samples.details(), disk_wait_us: diskUs }
  return { ratios, table: tabulate(subjects, samples), details, notes: notes(diskUs) }
}

function tabulate(subjects: CallPeers['subjects'], samples: Samples<SubjectName>): SuiteResult['table'] {
  const typical = samples.typical.bind(samples)
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
  return [heading, ...rows]
}

function notes(diskUs: number): string[] {
  return [
    '1 KiB request and response; at 1, 32, 256: so many calls under way at any time.',
    `Medians of ${ROUNDS} rounds of ${MEASURE_MS} ms; CPU at 32, of every process behind the caller, and of the caller's own.`,
    `The owner makes each call durable before it answers: this disk takes ${Math.round(diskUs)} µs for one page.`
  ]
}
