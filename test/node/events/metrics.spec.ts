import assert from 'node:assert/strict'
import { Feed } from '../../../node/events/feed.ts'
import { METRICS, Metrics } from '../../../node/events/metrics.ts'
import type { EndedCall } from '../../../node/events/watch-calls.ts'

describe('metrics', () => {
  const state = {
    version: '1.0.0',
    network: 'de"v',
    uptime_ms: 1500,
    peers: 3,
    listings: 2,
    serving: 1,
    calling: 0,
    written_off: '0.3'
  }
  const call = {
    role: 'owner',
    request_id: '',
    at: 0,
    api: 'a@p',
    status: 200,
    code: null,
    timing: {}
  } as const
  function counted(...lines: ReadonlyArray<Partial<EndedCall>>): string[] {
    const feed = new Feed<EndedCall>(1)
    const metrics = new Metrics(feed)
    for (const line of lines) feed.tell({ ...call, ms: 10, charged: 1_000n, ...line })
    metrics.stop()
    feed.tell({ ...call, ms: 10, charged: 1_000_000n })
    return metrics.text(state).split('\n')
  }

  it('count calls by target, outcome and charge, until stopped', () => {
    const lines = counted(
      {},
      { charged: 100_000n },
      { status: 502, charged: 0n },
      { role: 'payer', charged: 2_000_000n }
    )
    for (const line of [
      'souk_calls_total{role="owner",outcome="ok"} 2',
      'souk_calls_total{role="owner",outcome="error"} 1',
      'souk_calls_total{role="payer",outcome="ok"} 1',
      'souk_charged_usdc_total{role="owner"} 0.101',
      'souk_charged_usdc_total{role="payer"} 2',
      'souk_calls_in_flight{role="owner"} 1',
      'souk_uptime_seconds 1.5',
      'souk_peers 3',
      'souk_written_off_usdc 0.3',
      String.raw`souk_info{version="1.0.0",network="de\"v"} 1`
    ]) {
      assert.ok(lines.includes(line), `${line}\n\n${lines.join('\n')}`)
    }
  })

  it('report durations as a cumulative histogram', () => {
    const lines = counted({ ms: 1 }, { ms: 40 }, { ms: 90_000 })
    for (const line of [
      'souk_call_seconds_bucket{role="owner",le="0.001"} 1',
      'souk_call_seconds_bucket{role="owner",le="0.025"} 1',
      'souk_call_seconds_bucket{role="owner",le="0.05"} 2',
      'souk_call_seconds_bucket{role="owner",le="60"} 2',
      'souk_call_seconds_bucket{role="owner",le="+Inf"} 3',
      'souk_call_seconds_count{role="owner"} 3'
    ]) {
      assert.ok(lines.includes(line), `${line}\n\n${lines.join('\n')}`)
    }
    const [, sum] = lines.find((line) => line.startsWith('souk_call_seconds_sum{role="owner"}'))?.split(' ') ?? []
    assert.ok(Math.abs(Number(sum) - 90.041) < 1e-6, sum)
  })

  it('use the Prometheus format: help and type come before each metric', () => {
    const lines = counted()
    for (const [name, { type }] of Object.entries(METRICS)) {
      const at = lines.findIndex((line) => line.startsWith(`# HELP ${name} `))
      assert.equal(lines[at + 1], `# TYPE ${name} ${type}`)
      assert.ok(lines[at + 2]?.startsWith(name), name)
    }
    const sample = /^\w+(?:\{\w+="(?:[^"\\]|\\.)*"(?:,\w+="(?:[^"\\]|\\.)*")*\})? -?[\d.]+$/
    for (const line of lines) assert.ok(line === '' || line.startsWith('# ') || sample.test(line), line)
  })
})
