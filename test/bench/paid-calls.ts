import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { diskWaitUs } from './disk-wait.ts'
import { type PaidPeers, startPaidPeers } from './paid-peers.ts'
import { MEASURE_MS, ROUNDS, Samples, warmUp } from './samples.ts'
import { median } from './statistics.ts'
import type { Ratio, Suite, SuiteContext, SuiteResult } from './suite.ts'

type SubjectName = keyof PaidPeers['subjects']

const OWN: readonly SubjectName[] = ['free', 'paid', 'freeCode', 'paidCode']
const CONCURRENCIES = [1, 32, 256]
const PEER_CONCURRENCY = 32
/** The peer that pays through channels too. It waits for no block, so it is measured alone as well. */
const BATCH_CONCURRENCIES: readonly number[] = [1, PEER_CONCURRENCY]
const FIRST_CALLS = 15_000
const FIRST_PEER_CALLS = 300
/** The time until the owner's next read of the chain, after which the whole deposit counts. */
const LOOK_MS = 6_000
/** Number of writers that share a disk wait. */
const WRITERS = 64

/** The cost of payment in one run: paid and unpaid calls, and the same work with other payment software. */
export const paidCalls: Suite = {
  name: 'pay',
  async run(context) {
    const directory = join(context.directory, 'pay')
    await mkdir(directory, { recursive: true })
    await using peers = await startPaidPeers(directory)
    return report(peers, await sample(peers, { ...context, directory }))
  }
}

interface Measured {
  readonly samples: Samples<SubjectName>
  readonly verifications: number
  readonly writes: number
  readonly loneWrites: number
  readonly diskUs: number
}

async function sample({ subjects, moneyWork, finalize }: PaidPeers, context: SuiteContext): Promise<Measured> {
  const { say, directory } = context
  const samples = new Samples<SubjectName>()
  say('depositing')
  await warmUp(subjects.paidCode, [1], 1)
  await finalize()
  await pause(LOOK_MS)
  say('warming up')
  for (const name of OWN) await warmUp(subjects[name], [256, 32], FIRST_CALLS)
  await warmUp(subjects.x402, [PEER_CONCURRENCY], FIRST_PEER_CALLS)
  await warmUp(subjects.x402Batch, [PEER_CONCURRENCY], FIRST_CALLS)
  const work: Record<'verifications' | 'writes' | 'loneWrites' | 'diskUs', number[]> = {
    verifications: [],
    writes: [],
    loneWrites: [],
    diskUs: []
  }
  const shape = { warmUpMs: MEASURE_MS / 4, measureMs: MEASURE_MS }
  for (let round = 0; round < ROUNDS; round++) {
    say(`round ${round + 1} of ${ROUNDS}`)
    work.diskUs.push(diskWaitUs(directory))
    work.verifications.push(await moneyWork.ask<number>('verify', shape))
    work.writes.push(await moneyWork.ask<number>('book', { ...shape, concurrency: WRITERS }))
    work.loneWrites.push(await moneyWork.ask<number>('book', { ...shape, concurrency: 1 }))
    const order = round % 2 === 0 ? OWN : OWN.toReversed()
    for (const concurrency of CONCURRENCIES) {
      for (const name of order) await samples.take(name, subjects[name], concurrency)
      if (concurrency === PEER_CONCURRENCY) await samples.take('x402', subjects.x402, concurrency)
      if (BATCH_CONCURRENCIES.includes(concurrency)) await samples.take('x402Batch', subjects.x402Batch, concurrency)
    }
  }
  return {
    samples,
    verifications: median(work.verifications),
    writes: median(work.writes),
    loneWrites: median(work.loneWrites),
    diskUs: median(work.diskUs)
  }
}

function report({ subjects }: PaidPeers, measured: Measured): SuiteResult {
  const { samples, verifications, writes, loneWrites, diskUs } = measured
  const higher = 'higher' as const
  const paid = (ours: SubjectName, peer: SubjectName, concurrency: number) =>
    samples.ratio(`${ours}@${concurrency}`, `${peer}@${concurrency}`, 'perSecond')
  const [path, code] = ['paid ÷ unpaid calls/s, full path', 'paid ÷ unpaid calls/s, overlay alone']
  const ratios: Ratio[] = [
    { name: 'paid_rps_vs_unpaid', value: paid('paid', 'free', 32), better: higher, aim: 0.92, of: path },
    { name: 'paid_rps_vs_unpaid_at_256', value: paid('paid', 'free', 256), better: higher, of: path },
    {
      name: 'paid_overlay_rps_vs_unpaid',
      value: paid('paidCode', 'freeCode', 32),
      better: higher,
      aim: 0.85,
      of: code
    },
    { name: 'paid_overlay_rps_vs_unpaid_at_256', value: paid('paidCode', 'freeCode', 256), better: higher, of: code },
    {
      name: 'paid_rps_vs_x402_exact',
      value: paid('paid', 'x402', PEER_CONCURRENCY),
      better: higher,
      aim: 20,
      of: 'paid calls/s, full path ÷ @x402/express with exact'
    },
    ...againstBatch(samples, diskUs)
  ]
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  return {
    ratios,
    table: tabulate(subjects, samples, whole),
    details: {
      ...samples.details(),
      voucher_verifications_per_second: verifications,
      durable_ledger_writes_per_second: writes,
      durable_ledger_writes_per_second_alone: loneWrites,
      disk_wait_us: diskUs
    },
    notes: [
      `1 KiB request and response, SQLite at both ends, medians of ${ROUNDS} rounds of ${MEASURE_MS} ms; CPU at 32.`,
      'The chain is anvil on this machine, which mines a block for each transaction.',
      'A client of @x402/fetch asks for the price in each call, so it sends two requests.',
      `One core verifies ${whole(verifications)} vouchers/s, and makes ${whole(writes)} ledger entries/s durable for ${WRITERS} writers,`,
      `${whole(loneWrites)}/s for one alone; this disk takes ${whole(diskUs)} µs for one page.`
    ]
  }
}

/** Both ends, because a client of x402 does what a consumer node does here. */
function againstBatch(samples: Samples<SubjectName>, diskUs: number): Ratio[] {
  const of = '@x402/express with batch-settlement'
  const cpuUs = (name: SubjectName) =>
    samples.typical(`${name}@32`, 'serverCpuUs') + samples.typical(`${name}@32`, 'callerCpuUs')
  return [
    {
      name: 'paid_p50_vs_x402_batch',
      value: samples.ratio('paid@1', 'x402Batch@1', 'p50Us'),
      better: 'lower',
      of: `p50 of a paid call at 1, full path ÷ ${of}`,
      diskUs
    },
    {
      name: 'paid_cpu_vs_x402_batch',
      value: cpuUs('paid') / cpuUs('x402Batch'),
      better: 'lower',
      of: `CPU of all processes for a paid call at 32, full path ÷ ${of}`
    }
  ]
}

function tabulate(
  subjects: PaidPeers['subjects'],
  samples: Samples<SubjectName>,
  whole: (value: number) => string
): SuiteResult['table'] {
  const heading = ['', 'p50 µs at 1', 'calls/s at 1', 'at 32', 'at 256', 'CPU µs/call: servers', 'and caller']
  const rows = (Object.keys(subjects) as SubjectName[]).map((name) => {
    const show = (concurrency: number, of: Parameters<typeof samples.typical>[1]) => {
      const value = samples.typical(`${name}@${concurrency}`, of)
      return Number.isNaN(value) ? '–' : whole(value)
    }
    return [
      subjects[name].title,
      show(1, 'p50Us'),
      show(1, 'perSecond'),
      show(32, 'perSecond'),
      show(256, 'perSecond'),
      show(32, 'serverCpuUs'),
      show(32, 'callerCpuUs')
    ]
  })
  return [heading, ...rows]
}
