import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMarket } from '../bench/market.ts'
import { payload } from '../bench/payload.ts'
import type { Flood, FloodResult } from './roles/http-flood.ts'

const UPSTREAM = new URL('../bench/roles/upstream.ts', import.meta.url)
const FLOOD = new URL('./roles/http-flood.ts', import.meta.url)
/** One key has a limit of concurrent calls; many keys are many consumers. */
const KEYS = 50
const API = { name: 'flooded', price: '0.001' }

export interface OverloadInit {
  /** Clients with one connection each. Default 1,500. */
  readonly connections?: number
  /** Duration of the flood. Default 15 s. */
  readonly ms?: number
  /** Multiple of the measured capacity. Default 10. */
  readonly times?: number
}

/** Sends ten times an ingress's capacity from another process, and measures admitted and rejected calls. */
export async function run({
  connections = 1_500,
  ms = 15_000,
  times = 10
}: OverloadInit = {}): Promise<Record<string, number>> {
  const directory = await mkdtemp(join(tmpdir(), 'souk-overload-'))
  try {
    await using market = await startMarket(directory, UPSTREAM, API)
    const { consumer, owner } = market
    const flood = await market.start(FLOOD)
    const url = new URL(`${consumer.info.ingress}/api/demo/api/${API.name}`)
    const body = payload(1).toString()
    const keys = await Promise.all(Array.from({ length: KEYS }, () => consumer.ask<string>('issueKey')))
    const requests = keys.map(
      (key) =>
        `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nX-Consumer-Key: ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    )
    const base = { port: Number(url.port), requests }
    const load = (given: Omit<Flood, 'port' | 'requests'>) => flood.ask<FloodResult>('run', { ...base, ...given })
    // Warms up caches and compiled code.
    await load({ connections: 64, perSecond: 100_000, ms: 5_000 })
    const capacity = (await load({ connections: 64, perSecond: 100_000, ms: 3_000 })).admittedPerSecond
    const rss = () => Promise.all([consumer, owner].map((node) => node.ask<number>('rss')))
    const before = await rss()
    const result = await load({ connections, perSecond: times * capacity, ms })
    const after = await rss()
    const mb = (bytes = 0) => bytes / 2 ** 20
    return {
      capacity_per_second: capacity,
      offered_per_second: times * capacity,
      admitted_per_second: result.admittedPerSecond,
      refused_per_second: result.refusedPerSecond,
      p50_admitted_ms: result.p50AdmittedMs,
      p99_admitted_ms: result.p99AdmittedMs,
      median_refusal_ms: result.medianRefusalMs,
      p99_refusal_ms: result.p99RefusalMs,
      p99_new_connection_ms: result.p99NewConnectionMs,
      unanswered_connections: result.unanswered,
      broken_connections: result.broken,
      other_answers: result.others,
      ingress_rss_before_mb: mb(before[0]),
      ingress_rss_after_mb: mb(after[0]),
      owner_rss_before_mb: mb(before[1]),
      owner_rss_after_mb: mb(after[1])
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
