import assert from 'node:assert/strict'
import { limits } from '../../../../lib/index.ts'
import { answer, eventually, RawClient, type Running, startIngress } from '../harness.ts'

const KIB = 1024
/** Buffered bytes allowed for one key, and for all unauthenticated callers together. */
const SHARE = 64 * KIB
const BUDGET = SHARE * limits.HELD_HOLDER_PART
const PATH = '/api/demo/api/ticker'

describe('ingress: buffered bodies', () => {
  let ingress: Running
  const clients: RawClient[] = []
  const start = async (options: Parameters<typeof startIngress>[0] = {}) => {
    ingress = await startIngress({ heldBytesMax: BUDGET, ...options })
  }
  const client = () => {
    const made = new RawClient(ingress.port)
    clients.push(made)
    return made
  }
  afterEach(async () => {
    for (const each of clients.splice(0)) each.destroy()
    await ingress.close()
  })

  const head = (headers: Record<string, string | number>, path = PATH) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
    `${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`
  /** Sends a body without its last byte, so that the ingress keeps it buffered. */
  const hold = (bytes: number, headers: Record<string, string>, path?: string) =>
    client()
      .send(head({ ...headers, 'Content-Length': bytes }, path))
      .send(' '.repeat(bytes - 1))
  const withKey = (key = ingress.key) => ({ 'x-consumer-key': key })
  const isOverloaded = async (from: RawClient, end = '"source":"ingress","not_accepted":true}') => {
    const received = await from.until(end)
    assert.match(received, /^HTTP\/1\.1 503 /)
    assert.match(received, /\r\nRetry-After: 1\r\n/)
    assert.match(received, /"code":"overloaded"/)
  }
  /** Repeats a call with a body of `bytes` until it succeeds. */
  const untilTaken = async (bytes: number, headers: Record<string, string> = {}) => {
    const until = performance.now() + 30_000
    for (;;) {
      const { status } = await ingress.post(PATH, `{}${' '.repeat(bytes - 2)}`, headers)
      if (status === 200) return
      assert.ok(performance.now() < until, `still ${status}`)
    }
  }
  /** Repeats a call with a small body until it is rejected. */
  const untilRefused = async (headers: Record<string, string> = {}) => {
    const until = performance.now() + 30_000
    for (;;) {
      const reply = await ingress.post(PATH, `{}${' '.repeat(14)}`, headers)
      await reply.arrayBuffer()
      if (reply.status === 503) return
      assert.ok(performance.now() < until, `still ${reply.status}`)
    }
  }

  it('of one key are limited to a share, and leave space for other keys', async () => {
    await start()
    const holding = hold(SHARE, withKey())
    await untilRefused()
    const refused = hold(SHARE / 2, withKey())
    await isOverloaded(refused)
    const other = await ingress.keys.issue()
    await untilTaken(SHARE, withKey(other.key))
    holding.send('x')
    await holding.until('"code":"invalid_request"')
    await untilTaken(SHARE)
  })

  it('of one account share one limit across its keys', async () => {
    await start()
    const [one, two] = [await ingress.keys.issue({ account: 'a' }), await ingress.keys.issue({ account: 'a' })]
    hold(SHARE, withKey(one.key))
    await untilRefused(withKey(two.key))
    await untilTaken(SHARE)
  })

  it('of all keys are limited together', async () => {
    await start()
    for (let at = 0; at < limits.HELD_HOLDER_PART; at++) hold(SHARE, withKey((await ingress.keys.issue()).key))
    await untilRefused()
  })

  it('count only received bytes, not the announced length', async () => {
    await start()
    for (let at = 0; at < 20; at++) client().send(head({ ...withKey(), 'Content-Length': SHARE }))
    await untilTaken(SHARE)
  })

  it('are released when their client leaves', async () => {
    await start()
    const holding = hold(SHARE, withKey())
    await untilRefused()
    holding.destroy()
    await untilTaken(SHARE)
  })

  it('count until their call ends, even if the client has left', async () => {
    await start()
    const { promise, resolve } = Promise.withResolvers<void>()
    ingress.onCall = async (init) => {
      if (init.idempotencyKey !== undefined) await promise
      return answer()
    }
    const running = client()
    running.send(head({ ...withKey(), 'Idempotency-Key': 'one', 'Content-Length': SHARE }))
    running.send(`{}${' '.repeat(SHARE - 2)}`)
    await eventually(() => ingress.calls.length === 1)
    running.destroy()
    await untilRefused()
    resolve()
    await untilTaken(SHARE)
  })

  it('in chunks count by memory used, and small pieces need no more', async () => {
    await start()
    const bytes = SHARE / 2
    const dribbling = client()
    dribbling.send(head({ ...withKey(), 'Transfer-Encoding': 'chunked' }))
    dribbling
      .send('1\r\n{\r\n')
      .send('1\r\n \r\n'.repeat(bytes - 2))
      .send('1\r\n}\r\n0\r\n\r\n')
    await dribbling.until('{"ok":true}')
    const { body } = ingress.calls[0] ?? {}
    assert.ok(body instanceof Uint8Array && body.length === bytes && body.buffer.byteLength <= 2 * bytes)
    const endless = client().send(head({ ...withKey(), 'Transfer-Encoding': 'chunked' }))
    endless.send(`${(2 * SHARE).toString(16)}\r\n${' '.repeat(2 * SHARE)}`)
    await isOverloaded(endless)
    assert.match(endless.received, /\r\nConnection: close\r\n/)
    await untilTaken(SHARE)
  })

  it('that stop arriving, or arrive too slowly, are aborted', async () => {
    await start({ bodyWindowMs: 100 })
    const stopped = hold(SHARE / 2, withKey())
    const trickling = client().send(head({ ...withKey(), 'Content-Length': SHARE / 2 }))
    const timer = setInterval(() => trickling.send(' '), 10)
    try {
      for (const each of [stopped, trickling]) {
        const received = await each.until('"source":"ingress"}')
        assert.match(received, /^HTTP\/1\.1 400 /)
        assert.match(received, /did not arrive in time/)
        await each.closed()
      }
    } finally {
      clearInterval(timer)
    }
    await untilTaken(SHARE)
  })

  describe('of unauthenticated callers', () => {
    const payment = { 'Payment-Signature': 'e30=' }

    it('with an unverified payment share one limit, and leave space for keys', async () => {
      await start({ x402: true })
      for (let at = 0; at < 4; at++) hold(SHARE / 4, payment)
      await untilRefused({ 'x-consumer-key': '', ...payment })
      await isOverloaded(hold(SHARE / 4, payment))
      await untilTaken(SHARE)
    })

    it('behind a proxy have a smaller limit per host, unless the proxy names no client', async () => {
      await start({ x402: true, trustProxy: true })
      const part = BUDGET / limits.HELD_STRANGER_PART
      const from = (host: string) => ({ 'x-consumer-key': '', 'x-forwarded-for': host, ...payment })
      hold(part, { ...payment, 'X-Forwarded-For': 'made up, 192.0.2.1' })
      await untilRefused(from('192.0.2.1'))
      await untilTaken(part, from('192.0.2.2'))
      hold(part, { ...payment, 'X-Forwarded-For': '2001:db8::1' })
      await untilRefused(from('2001:db8:0:0:ffff::2'))
      await untilTaken(part, from('2001:db8:0:1::1'))
      await untilTaken(2 * part, { 'x-consumer-key': '', ...payment })
    })

    it('count towards the rate limit of unauthenticated requests unless their payment is valid', async () => {
      await start({ x402: true, unauthenticatedPerHost: 3 })
      const post = async (headers: Record<string, string>) =>
        (await ingress.post(PATH, {}, { 'x-consumer-key': '', ...headers })).status
      for (let at = 0; at < 10; at++) assert.equal(await post(payment), 200)
      ingress.onCall = () => Promise.reject(new Error('not a payment'))
      for (let at = 0; at < 3; at++) assert.equal(await post(payment), 500)
      assert.equal(await post(payment), 429)
    })
  })

  it('are requested with 100 Continue only after admission', async () => {
    await start()
    const { key } = await ingress.keys.issue({ rateLimit: { calls: 1, perMs: 60_000 } })
    const waiting = head({ ...withKey(key), Expect: '100-continue', 'Content-Length': 2 })
    const first = client().send(waiting)
    await first.until('HTTP/1.1 100 Continue\r\n\r\n')
    await first.send('{}').until('{"ok":true}')
    assert.match(await client().send(waiting).until('"source":"ingress","not_accepted":true}'), /^HTTP\/1\.1 429 /)
  })

  it('of agents count too', async () => {
    await start()
    const holding = hold(SHARE, withKey(), '/mcp')
    await untilRefused()
    await isOverloaded(hold(SHARE / 2, withKey(), '/mcp'), '"source":"ingress"}')
    holding.destroy()
    await untilTaken(SHARE)
  })

  it('include unread responses, and a rejected one is not charged', async () => {
    const bytes = 8 * 1024 * KIB
    await start({ heldBytesMax: limits.HELD_HOLDER_PART * bytes })
    // Only an API of this node returns a large response whole.
    ingress.onCall = (init) => answer(init.path === '/large' ? { body: Buffer.alloc(bytes), charged: 0n } : {})
    const lazy = client()
    lazy.socket.pause()
    lazy.send(`GET ${PATH}/large HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n\r\n`)
    await eventually(() => ingress.calls.length === 1)
    const again = await fetch(`${ingress.url}${PATH}/large`, { headers: withKey() })
    assert.equal(again.status, 503)
    const { charged, not_accepted: notAccepted } = (await again.json()) as Record<string, unknown>
    // The API ran the call.
    assert.deepEqual([charged, notAccepted], [false, undefined])
    lazy.destroy()
    await eventually(() => lazy.socket.destroyed)
    const until = performance.now() + 30_000
    for (;;) {
      const reply = await fetch(`${ingress.url}${PATH}/large`, { headers: withKey() })
      const { byteLength } = await reply.arrayBuffer()
      if (reply.status === 200) {
        assert.equal(byteLength, bytes)
        return
      }
      assert.ok(performance.now() < until, 'the response was not given back')
    }
  })
})
