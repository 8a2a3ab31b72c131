import assert from 'node:assert/strict'
import { limits, systemClock } from '../../../../lib/index.ts'
import { manifestOf } from '../../../lib/resolve/fixtures.ts'
import { answer, eventually, PROVIDER, RawClient, type Running, startIngress } from '../harness.ts'

/** More than the system buffers. */
const OPERATIONS = limits.GRAPHQL_BATCH_OPERATIONS_MAX
const RESULT = Buffer.from(JSON.stringify({ data: { text: 'x'.repeat(400_000) } }))
/** The array has a bracket or a comma before each result, and a bracket at its end. */
const BYTES = OPERATIONS * (RESULT.length + 1) + 1
const READ_MS = limits.ANSWER_READ_MS + (BYTES / 2 ** 20) * limits.ANSWER_READ_MS_PER_MIB
const LATE_MS = 1_000

describe('ingress: a batch that is not read', () => {
  let ingress: Running
  let client: RawClient
  before(async () => {
    const after: typeof systemClock.after = (ms, task) => systemClock.after(ms === READ_MS ? LATE_MS : ms, task)
    ingress = await startIngress({}, { ...systemClock, after })
    const manifest = manifestOf(PROVIDER, { name: 'counts', protocol: 'GraphQL' })
    const signed = { id: `counts@${PROVIDER}`, envelope: new Uint8Array(0), manifest } as const
    ingress.onResolve = async () => ({ signed, owners: [] })
    ingress.onCall = () => answer({ body: RESULT })
  })
  after(async () => {
    client.destroy()
    await ingress.close()
  })

  it('ends its connection', async () => {
    const body = JSON.stringify(Array.from({ length: OPERATIONS }, () => ({ query: '{ text }' })))
    const head = [
      'POST /api/demo/api/counts HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `X-Consumer-Key: ${ingress.key}`,
      `Content-Length: ${body.length}`
    ]
    client = new RawClient(ingress.port)
    client.socket.pause()
    client.send(`${head.join('\r\n')}\r\n\r\n${body}`)
    await eventually(() => ingress.calls.length === OPERATIONS)
    await new Promise((resolve) => setTimeout(resolve, 3 * LATE_MS))
    client.socket.resume()
    const received = await client.closed()
    assert.match(received, /^HTTP\/1.1 200 /)
    assert.ok(received.length < BYTES, `${received.length} bytes`)
  })
})
