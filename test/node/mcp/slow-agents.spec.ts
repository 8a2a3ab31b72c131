import assert from 'node:assert/strict'
import { limits, systemClock } from '../../../lib/index.ts'
import { answer, eventually, RawClient, type Running, startIngress } from '../ingress/harness.ts'
import { signed } from './signed.ts'

/** More than the system buffers: each result has the response twice. */
const CALLS = 50
const RESPONSE = Buffer.from(JSON.stringify({ text: 'x'.repeat(200_000) }))
const STALL_MS = 200

describe('agents that read nothing', () => {
  let ingress: Running
  let client: RawClient
  before(async () => {
    const after: typeof systemClock.after = (ms, task) =>
      systemClock.after(ms === limits.READER_STALL_MS ? STALL_MS : ms, task)
    ingress = await startIngress({}, { ...systemClock, after })
    const plain = signed('plain', { operations: [{ name: 'call' }] }, { protocol: 'REST' })
    ingress.onResolve = async () => ({ signed: plain, owners: [] })
    ingress.onCall = () => answer({ body: RESPONSE })
  })
  after(async () => {
    client.destroy()
    await ingress.close()
  })

  it('are disconnected', async () => {
    const params = { name: 'plain_call', arguments: {} }
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })
    const body = JSON.stringify(Array.from({ length: CALLS }, (_, at) => call(at)))
    const head = [
      'POST /mcp?api=plain HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'MCP-Protocol-Version: 2025-03-26',
      `X-Consumer-Key: ${ingress.key}`,
      `Content-Length: ${body.length}`
    ]
    client = new RawClient(ingress.port)
    client.socket.pause()
    client.send(`${head.join('\r\n')}\r\n\r\n${body}`)
    await eventually(() => ingress.calls.length === CALLS)
    await new Promise((resolve) => setTimeout(resolve, 10 * STALL_MS))
    client.socket.resume()
    const received = await client.closed()
    assert.ok(received.length < CALLS * RESPONSE.length, `${received.length} bytes`)
  })
})
