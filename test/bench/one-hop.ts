import { join } from 'node:path'
import { startMarket } from './market.ts'
import type { Registration } from './roles/node.ts'
import { MEASURE_MS, ROUNDS, Samples, warmUp } from './samples.ts'
import type { Subject } from './subject.ts'
import type { Ratio, Suite, SuiteResult } from './suite.ts'

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
}

type Name = 'direct' | 'proxy' | 'path'

/** A call through Souk, checked and metered, compared with a reverse proxy that does neither. */
export function oneHopSuite(init: OneHopInit): Suite {
  const { name, role, api, body, bodyThroughSouk = body, answer } = init
  return {
    name,
    async run({ directory, say }) {
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
      const subjects: Readonly<Record<Name, Subject>> = {
        direct: { title: 'direct', caller, target: { ...http, ...upstream.info }, servers: [upstream] },
        proxy: {
          title: 'one-hop proxy: @fastify/http-proxy',
          caller,
          target: { ...http, ...proxy.info },
          servers: [proxy, upstream]
        },
        path: { title: 'through Souk', caller, target: through, servers: [consumer, owner, upstream] }
      }
      const samples = new Samples<Name>()
      const names = Object.keys(subjects) as Name[]
      say('warming up')
      for (const one of names) await warmUp(subjects[one], [32], FIRST_CALLS)
      for (let round = 0; round < ROUNDS; round++) {
        say(`round ${round + 1} of ${ROUNDS}`)
        const order = round % 2 === 0 ? names : names.toReversed()
        for (const concurrency of CONCURRENCIES) {
          for (const one of order) await samples.take(one, subjects[one], concurrency)
        }
      }
      return report(init, subjects, samples)
    }
  }
}

function report(
  { name, note }: OneHopInit,
  subjects: Readonly<Record<Name, Subject>>,
  samples: Samples<Name>
): SuiteResult {
  const of = 'through Souk ÷ one-hop proxy'
  const ratios: Ratio[] = [
    { name: `${name}_p50_at_1`, value: samples.ratio('path@1', 'proxy@1', 'p50Us'), better: 'lower', of },
    { name: `${name}_rps_at_32`, value: samples.ratio('path@32', 'proxy@32', 'perSecond'), better: 'higher', of },
    { name: `${name}_cpu_per_call`, value: samples.ratio('path@32', 'proxy@32', 'serverCpuUs'), better: 'lower', of }
  ]
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const rows = (Object.keys(subjects) as Name[]).map((one) => [
    subjects[one].title,
    whole(samples.typical(`${one}@1`, 'p50Us')),
    whole(samples.typical(`${one}@1`, 'p99Us')),
    whole(samples.typical(`${one}@32`, 'perSecond')),
    whole(samples.typical(`${one}@32`, 'serverCpuUs'))
  ])
  return {
    ratios,
    table: [['', 'p50 µs at 1', 'p99 µs at 1', 'calls/s at 32', 'CPU µs/call: servers'], ...rows],
    notes: [note, `Medians of ${ROUNDS} rounds of ${MEASURE_MS} ms; CPU at 32, of every process behind the caller.`],
    details: samples.details()
  }
}
