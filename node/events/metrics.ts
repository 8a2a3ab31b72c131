import { formatUsdc } from '../../lib/index.ts'
import type { Feed } from './feed.ts'
import type { EndedCall } from './watch-calls.ts'

type Role = EndedCall['role']
const ROLES: readonly Role[] = ['owner', 'payer']
const OUTCOMES = ['ok', 'error'] as const

/** Upper bounds of a histogram's buckets, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const

/** The state of a node that metrics report. */
export interface NodeState {
  readonly version: string
  readonly network: string
  readonly uptime_ms: number
  readonly peers: number
  readonly listings: number
  readonly serving: number
  readonly calling: number
  /** Decimal USDC. */
  readonly written_off: string
}

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** Labels and their values. */
  readonly labels?: Readonly<Record<string, string>>
  readonly samples: (calls: Readonly<Record<Role, Counts>>, state: NodeState) => readonly Sample[]
}

interface Sample {
  readonly suffix?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number | string
}

const ROLE = '`owner`: calls served here; `payer`: calls made from here'
const perRole = (value: (counts: Counts) => number | string): Metric['samples'] => {
  return (calls) => ROLES.map((role) => ({ labels: { role }, value: value(calls[role]) }))
}

/** All metrics of `GET /metrics` in the admin API. docs/reference/metrics.md is generated from this table. Names are permanent. */
export const METRICS = {
  souk_info: {
    type: 'gauge',
    help: 'Always 1.',
    labels: { version: 'of Souk', network: 'the node’s' },
    samples: (_, { version, network }) => [{ labels: { version, network }, value: 1 }]
  },
  souk_uptime_seconds: {
    type: 'gauge',
    help: 'Time since the node started.',
    samples: (_, { uptime_ms }) => [{ value: uptime_ms / 1000 }]
  },
  souk_peers: {
    type: 'gauge',
    help: 'Number of connected nodes.',
    samples: (_, { peers }) => [{ value: peers }]
  },
  souk_listings: {
    type: 'gauge',
    help: 'Number of APIs that this node serves.',
    samples: (_, { listings }) => [{ value: listings }]
  },
  souk_calls_in_flight: {
    type: 'gauge',
    help: 'Calls in progress. A stream counts until it ends.',
    labels: { role: ROLE },
    samples: (_, { serving, calling }) => [
      { labels: { role: 'owner' }, value: serving },
      { labels: { role: 'payer' }, value: calling }
    ]
  },
  souk_calls_total: {
    type: 'counter',
    help: 'Calls that ended.',
    labels: { role: ROLE, outcome: '`ok`, or `error` where the status was 400 or more' },
    samples: (calls) =>
      ROLES.flatMap((role) => OUTCOMES.map((outcome) => ({ labels: { role, outcome }, value: calls[role][outcome] })))
  },
  souk_charged_usdc_total: {
    type: 'counter',
    help: 'Total price of these calls in USDC: earned as owner, paid as payer.',
    labels: { role: ROLE },
    samples: perRole(({ charged }) => formatUsdc(charged))
  },
  souk_written_off_usdc: {
    type: 'gauge',
    help: 'Channel payments that can no longer be collected, in USDC.',
    samples: (_, { written_off }) => [{ value: written_off }]
  },
  souk_call_seconds: {
    type: 'histogram',
    help: 'Duration of calls. As owner: including the API; as payer: until the response began.',
    labels: { role: ROLE },
    samples: (calls) => ROLES.flatMap((role) => histogram(role, calls[role]))
  }
} as const satisfies Readonly<Record<string, Metric>>

class Counts {
  ok = 0
  error = 0
  charged = 0n
  seconds = 0
  /** One bucket per bound, and one for longer durations. */
  readonly buckets: number[] = Array.from({ length: SECONDS.length + 1 }, () => 0)

  add({ status, charged, ms }: EndedCall): void {
    this[status >= 400 ? 'error' : 'ok']++
    this.charged += charged
    this.seconds += ms / 1000
    const at = SECONDS.findIndex((bound) => ms / 1000 <= bound)
    const bucket = at < 0 ? SECONDS.length : at
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
  }
}

function histogram(role: Role, { buckets, seconds, ok, error }: Counts): Sample[] {
  let below = 0
  const samples: Sample[] = [...SECONDS, '+Inf'].map((bound, i) => {
    below += buckets[i] ?? 0
    return { suffix: '_bucket', labels: { role, le: String(bound) }, value: below }
  })
  return [
    ...samples,
    { suffix: '_sum', labels: { role }, value: seconds },
    { suffix: '_count', labels: { role }, value: ok + error }
  ]
}

/** Counts the node’s calls since its start, for a monitoring system that polls. */
export class Metrics {
  readonly #calls: Readonly<Record<Role, Counts>> = { owner: new Counts(), payer: new Counts() }
  readonly #end: () => void

  constructor(calls: Feed<EndedCall>) {
    this.#end = calls.listen((line) => this.#calls[line.role].add(line))
  }

  /** Prometheus’ text format, 0.0.4. */
  text(state: NodeState): string {
    const lines = Object.entries<Metric>(METRICS).flatMap(([name, { type, help, samples }]) => [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\')}`,
      `# TYPE ${name} ${type}`,
      ...samples(this.#calls, state).map(({ suffix = '', labels = {}, value }) => {
        const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replaceAll(/["\\]/g, '\\$&')}"`)
        return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
      })
    ])
    return `${lines.join('\n')}\n`
  }

  stop(): void {
    this.#end()
  }
}
