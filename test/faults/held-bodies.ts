import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startMarket } from '../bench/market.ts'
import type { HeldBodies, HeldBodiesResult } from './roles/body-holder.ts'

const UPSTREAM = new URL('../bench/roles/upstream.ts', import.meta.url)
const HOLDER = new URL('./roles/body-holder.ts', import.meta.url)
const API = { name: 'held', price: '0.001' }
const MIB = 2 ** 20
/** The interval for sampling the node's memory. */
const LOOK_MS = 100

type Attack = Pick<HeldBodies, 'connections' | 'bytes'> & {
  /** Keys for the bodies. Without keys, they carry an unverified payment. */
  readonly keys: number
}

/** Bodies without their last byte: measures their memory, and whether other calls get responses meanwhile. */
export async function run(): Promise<Record<string, number>> {
  return {
    ...(await attack('one_key', { connections: 120, bytes: 10 * MIB, keys: 1 })),
    ...(await attack('twenty_keys', { connections: 120, bytes: 10 * MIB, keys: 20 })),
    ...(await attack('payments', { connections: 400, bytes: MIB, keys: 0 }))
  }
}

/** Each attack on new nodes, because a process does not return its memory. */
async function attack(name: string, { connections, bytes, keys }: Attack): Promise<Record<string, number>> {
  const directory = await mkdtemp(join(tmpdir(), 'souk-held-'))
  try {
    await using market = await startMarket(directory, UPSTREAM, API)
    const { consumer } = market
    const holder = await market.start(HOLDER)
    const url = new URL(`${consumer.info.ingress}/api/demo/api/${API.name}`)
    const headers = ['Payment-Signature: e30=']
    for (let at = 0; at < keys; at++) headers[at] = `X-Consumer-Key: ${await consumer.ask<string>('issueKey')}`
    const rssMb = async () => (await consumer.ask<number>('rss')) / MIB
    for (let at = 0; at < 20; at++) await call(url, market.key)

    const before = await rssMb()
    let peak = before
    const over = new AbortController()
    const looks = (async () => {
      while (!over.signal.aborted) {
        peak = Math.max(peak, await rssMb())
        await pause(LOOK_MS)
      }
    })()
    const place = { port: Number(url.port), path: url.pathname }
    const { held, refused } = await holder.ask<HeldBodiesResult>('run', { ...place, headers, connections, bytes })
    const callMs = await call(url, market.key)
    over.abort()
    await looks
    return {
      [`${name}_rss_before_mb`]: before,
      [`${name}_rss_peak_mb`]: peak,
      [`${name}_held`]: held,
      [`${name}_refused`]: refused,
      [`${name}_call_of_others_ms`]: callMs
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Another consumer's call: its duration in milliseconds, or NaN without a response. */
async function call(url: URL, key: string): Promise<number> {
  const startedAt = performance.now()
  const headers = { 'content-type': 'application/json', 'x-consumer-key': key }
  const response = await fetch(url, { method: 'POST', headers, body: '{}' })
  await response.arrayBuffer()
  return response.status === 200 ? performance.now() - startedAt : Number.NaN
}
