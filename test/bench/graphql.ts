import { join } from 'node:path'
import type { NodeInfo } from '../../node/index.ts'
import type { Origin } from './loopback.ts'
import { Player } from './player.ts'
import { MEASURE_MS, ROUNDS, Samples, warmUp } from './samples.ts'
import type { Subject } from './subject.ts'
import type { Ratio, Suite, SuiteResult } from './suite.ts'

const ROLES = {
  upstream: new URL('./roles/graphql-upstream.ts', import.meta.url),
  proxy: new URL('./roles/proxy.ts', import.meta.url),
  node: new URL('./roles/node.ts', import.meta.url),
  httpLoad: new URL('./roles/http-load.ts', import.meta.url)
}
const API = { name: 'bench', price: '0.001', protocol: 'GraphQL' }
const FIRST = 20
const BODY = JSON.stringify({
  query: 'query Posts($first: Int) { posts(first: $first) { id title } }',
  variables: { first: FIRST }
})
const ANSWER = JSON.stringify({
  data: { posts: Array.from({ length: FIRST }, (_, id) => ({ id, title: 'On notes and machines' })) }
})
const CONCURRENCIES = [1, 32]
const FIRST_CALLS = 5_000

type Name = 'direct' | 'proxy' | 'path'

/** A query through Souk, checked against the schema and metered, beside a reverse proxy that does neither. */
export const graphql: Suite = {
  name: 'graphql',
  async run({ directory, say }) {
    await using undo = new AsyncDisposableStack()
    const start = async <Info>(role: URL, args?: unknown): Promise<Player<Info>> => {
      const player = await Player.start<Info>(role, args)
      undo.defer(() => player.stop())
      return player
    }
    const upstream = await start<Origin>(ROLES.upstream)
    const proxy = await start<Origin>(ROLES.proxy, upstream.info)
    const owner = await start<NodeInfo>(ROLES.node, {
      directory: join(directory, 'graphql-owner'),
      bootstrap: [],
      ingress: false
    })
    await owner.ask('register', { ...API, ...upstream.info })
    const consumer = await start<NodeInfo>(ROLES.node, {
      directory: join(directory, 'graphql-consumer'),
      bootstrap: owner.info.p2p,
      ingress: true
    })
    const key = await consumer.ask<string>('issueKey')
    const caller = await start(ROLES.httpLoad)

    const http = { path: '/', headers: {}, body: BODY, answer: ANSWER }
    const origin = consumer.info.ingress
    const through = { ...http, origin, path: `/api/demo/api/${API.name}`, headers: { 'x-consumer-key': key } }
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
    for (const name of names) await warmUp(subjects[name], [32], FIRST_CALLS)
    for (let round = 0; round < ROUNDS; round++) {
      say(`round ${round + 1} of ${ROUNDS}`)
      const order = round % 2 === 0 ? names : names.toReversed()
      for (const concurrency of CONCURRENCIES) {
        for (const name of order) await samples.take(name, subjects[name], concurrency)
      }
    }
    return report(subjects, samples)
  }
}

function report(subjects: Readonly<Record<Name, Subject>>, samples: Samples<Name>): SuiteResult {
  const of = 'through Souk ÷ one-hop proxy'
  const ratios: Ratio[] = [
    { name: 'graphql_p50_at_1', value: samples.ratio('path@1', 'proxy@1', 'p50Us'), better: 'lower', of },
    { name: 'graphql_rps_at_32', value: samples.ratio('path@32', 'proxy@32', 'perSecond'), better: 'higher', of },
    { name: 'graphql_cpu_per_call', value: samples.ratio('path@32', 'proxy@32', 'serverCpuUs'), better: 'lower', of }
  ]
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const rows = (Object.keys(subjects) as Name[]).map((name) => [
    subjects[name].title,
    whole(samples.typical(`${name}@1`, 'p50Us')),
    whole(samples.typical(`${name}@1`, 'p99Us')),
    whole(samples.typical(`${name}@32`, 'perSecond')),
    whole(samples.typical(`${name}@32`, 'serverCpuUs'))
  ])
  return {
    ratios,
    table: [['', 'p50 µs at 1', 'p99 µs at 1', 'calls/s at 32', 'CPU µs/call: servers'], ...rows],
    notes: [
      `One query with variables, ${ANSWER.length} bytes of data; graphql-http executes it.`,
      `Medians of ${ROUNDS} rounds of ${MEASURE_MS} ms; CPU at 32, of every process behind the caller.`
    ],
    details: samples.details()
  }
}
