import assert from 'node:assert/strict'
import { limits, type Problem } from '../../../../lib/index.ts'
import { answer, RawClient, type Running, startIngress } from '../harness.ts'
import { eventually } from '../../../helpers/eventually.ts'

const PATH = '/api/demo/api/ticker'
/** A web page's. Its preflights are never refused, and it may read refusals. */
const ORIGIN = 'https://app.example'
const PREFLIGHT = { origin: ORIGIN, 'access-control-request-method': 'POST' }
/** More concurrent clients than one event loop turn can serve at `WORK_MS` each. */
const CLIENTS = 200
const WORK_MS = 2

describe('ingress: overload', () => {
  let ingress: Running
  before(async () => {
    ingress = await startIngress({ corsOrigins: [ORIGIN] })
    ingress.onCall = () => {
      const until = performance.now() + WORK_MS
      while (performance.now() < until);
      return answer()
    }
  })
  after(() => ingress.close())

  it('is rejected at once and cheaply, while other calls and probes are served', async () => {
    const calls = () => ingress.calls.length
    const admitted: number[] = []
    const refused: Response[] = []
    const over = new AbortController()
    const keys = [ingress.key, (await ingress.keys.issue()).key]
    const work = async (at: number) => {
      while (!over.signal.aborted) {
        const startedAt = performance.now()
        const reply = await ingress.post(PATH, {}, { origin: ORIGIN, 'x-consumer-key': keys[at % 2] ?? '' })
        if (reply.status === 200) admitted.push(performance.now() - startedAt)
        else refused.push(reply)
        if (reply.status === 200) await reply.arrayBuffer()
      }
    }
    const workers = Array.from({ length: CLIENTS }, (_, at) => work(at))
    const until = performance.now() + 60_000
    while (refused.length < 50 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
    const before = calls()
    const [livez, readyz] = await Promise.all(['/livez', '/readyz'].map((path) => fetch(ingress.url + path)))
    assert.deepEqual([livez?.status, readyz?.status], [200, 200])
    for (let tries = 0; tries < 20; tries++) {
      const preflight = await fetch(ingress.url + PATH, { method: 'OPTIONS', headers: PREFLIGHT })
      assert.equal(preflight.status, 204)
    }
    while (calls() < before + 50 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
    over.abort()
    await Promise.all(workers)
    assert.ok(refused.length >= 50, `${refused.length} were refused`)
    assert.ok(calls() >= before + 50, 'nothing more was admitted')
    for (const { status, headers } of refused) {
      assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
      assert.equal(headers.get('access-control-allow-origin'), ORIGIN)
    }
    const problem = (await refused[0]?.json()) as Problem
    const { code, charged, retryable, request_id } = problem
    assert.deepEqual([code, charged, retryable], ['overloaded', false, true])
    assert.equal(refused[0]?.headers.get('x-request-id'), request_id)
    // Rejected requests made no call.
    assert.equal(calls(), admitted.length)
  })

  it('ends soon, and all calls are admitted again', async () => {
    ingress.onCall = () => answer()
    await eventually('all calls to be admitted', 20 * limits.LOAD_CALM_MS, async () => {
      const replies = await Promise.all(
        Array.from({ length: 2 * limits.LOAD_ADMITTED_MIN }, () => ingress.post(PATH, {}))
      )
      return replies.every(({ status }) => status === 200) ? true : undefined
    })
  })

  it('leaves the connection usable for the next request', async () => {
    const client = new RawClient(ingress.port)
    const request = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
    // With this many requests in one turn, some are rejected when the turn takes too long.
    client.send(request.repeat(700))
    const answered = () => client.received.match(/HTTP\/1\.1 (?:200|503) /g)?.length ?? 0
    const until = performance.now() + 20_000
    while (answered() < 700 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(answered(), 700)
    client.destroy()
  })
})
