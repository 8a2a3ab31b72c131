import { join } from 'node:path'
import { diskWaitUs } from './disk-wait.ts'
import { install, type InstalledPeer, type PeerArgs } from './installed-peer.ts'
import type { Origin } from './loopback.ts'
import { type Market, startMarket } from './market.ts'
import type { Registration } from './roles/node.ts'
import { MEASURE_MS, ROUNDS, Samples, warmUp } from './samples.ts'
import { median } from './statistics.ts'
import type { Subject } from './subject.ts'
import type { Ratio, Suite, SuiteContext, SuiteResult } from './suite.ts'

const CONCURRENCIES = [1, 32]
const FIRST_CALLS = 5_000

export interface OneHopInit {
  readonly name: string
  /** The module that plays the API. */
  readonly role: URL
  readonly api: Omit<Registration, 'origin'>
  /** The request body for the API itself, and for Souk if it differs; and the response. */
  readonly body: string
  readonly bodyThroughSouk?: string
  readonly answer: string
  readonly note: string
  /** The aim of the CPU time of a call, as a ratio to that of the one-hop proxy. */
  readonly cpuAim: number
  /** A program that does with such calls what Souk does. Left out where it cannot be installed. */
  readonly peer?: InstalledPeer
}

type Name = 'direct' | 'proxy' | 'peer' | 'path'
type Subjects = Readonly<Partial<Record<Name, Subject>>>

/** A call through Souk, checked and metered, compared with a reverse proxy that does neither. */
export function oneHopSuite(init: OneHopInit): Suite {
  const { name, role, api, body, bodyThroughSouk = body, answer } = init
  return {
    name,
    async run(context) {
      const { directory, say } = context
      await using market = await startMarket(join(directory, name), role, api)
      const { upstream, proxy, owner, consumer, caller, key } = market
      const http = { path: '/', headers: {}, body, answer }
      const through = {
        origin: consumer.info.ingress,
        path: `/api/demo/api/${api.name}`,
        headers: { 'x-consumer-key': key },
        body: bodyThroughSouk,
        answer
      }
      const peer = await peerOf(init, market, context)
      const subjects: Subjects = {
        direct: { title: 'direct', caller, target: { ...http, ...upstream.info }, servers: [upstream] },
        proxy: {
          title: 'one-hop proxy: @fastify/http-proxy',
          caller,
          target: { ...http, ...proxy.info },
          servers: [proxy, upstream]
        },
        ...(peer === undefined ? {} : { peer }),
        path: { title: 'through Souk', caller, target: through, servers: [consumer, owner, upstream] }
      }
      const samples = new Samples<Name>()
      const diskUs: number[] = []
      const all = Object.entries(subjects) as Array<[Name, Subject]>
      say('warming up')
      for (const [, subject] of all) await warmUp(subject, [32], FIRST_CALLS)
      for (let round = 0; round < ROUNDS; round++) {
        say(`round ${round + 1} of ${ROUNDS}`)
        diskUs.push(diskWaitUs(directory))
        const order = round % 2 === 0 ? all : all.toReversed()
        for (const concurrency of CONCURRENCIES) {
          for (const [one, subject] of order) await samples.take(one, subject, concurrency)
        }
      }
      return report(init, subjects, samples, median(diskUs))
    }
  }
}

async function peerOf(
  { peer, body, answer }: OneHopInit,
  { upstream, caller, start }: Market,
  { say }: SuiteContext
): Promise<Subject | undefined> {
  const directory = peer === undefined ? undefined : await install(peer, say)
  if (peer === undefined || directory === undefined) return undefined
  const args: PeerArgs = { ...upstream.info, directory }
  const running = await start<Origin>(peer.role, args)
  const target = { path: '/', headers: {}, body, answer, ...running.info }
  return { title: peer.title, caller, target, servers: [running, upstream] }
}

function report(
  { name, note, cpuAim }: OneHopInit,
  subjects: Subjects,
  samples: Samples<Name>,
  diskUs: number
): SuiteResult {
  const of = 'through Souk ÷ one-hop proxy'
  const ratios: Ratio[] = [
    { name: `${name}_p50_at_1`, value: samples.ratio('path@1', 'proxy@1', 'p50Us'), better: 'lower', of, diskUs },
    { name: `${name}_rps_at_32`, value: samples.ratio('path@32', 'proxy@32', 'perSecond'), better: 'higher', of },
    {
      name: `${name}_cpu_per_call`,
      value: samples.ratio('path@32', 'proxy@32', 'serverCpuUs'),
      better: 'lower',
      aim: cpuAim,
      of
    }
  ]
  if (subjects.peer !== undefined) ratios.push(...againstPeer(name, subjects.peer.title, samples, diskUs))
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const rows = (Object.entries(subjects) as Array<[Name, Subject]>).map(([one, { title }]) => [
    title,
    whole(samples.typical(`${one}@1`, 'p50Us')),
    whole(samples.typical(`${one}@1`, 'p99Us')),
    whole(samples.typical(`${one}@32`, 'perSecond')),
    whole(samples.typical(`${one}@32`, 'serverCpuUs'))
  ])
  return {
    ratios,
    table: [['', 'p50 µs at 1', 'p99 µs at 1', 'calls/s at 32', 'CPU µs/call: servers'], ...rows],
    notes: [note, `Medians of ${ROUNDS} rounds of ${MEASURE_MS} ms; CPU at 32, of every process behind the caller.`],
    details: { ...samples.details(), disk_wait_us: diskUs }
  }
}

function againstPeer(name: string, title: string, samples: Samples<Name>, diskUs: number): Ratio[] {
  const of = `through Souk ÷ ${title}`
  return [
    { name: `${name}_p50_vs_peer`, value: samples.ratio('path@1', 'peer@1', 'p50Us'), better: 'lower', of, diskUs },
    { name: `${name}_rps_vs_peer`, value: samples.ratio('path@32', 'peer@32', 'perSecond'), better: 'higher', of },
    { name: `${name}_cpu_vs_peer`, value: samples.ratio('path@32', 'peer@32', 'serverCpuUs'), better: 'lower', of }
  ]
}
