import assert from 'node:assert/strict'
import { request } from 'node:http'
import { limits, SoukError, systemClock } from '../../../../lib/index.ts'
import type { Clock } from '../../../../lib/interface/index.ts'
import { answer, eventually, RawClient, type Running, startIngress } from '../harness.ts'

interface Waiting {
  resolve(step: IteratorResult<Uint8Array>): void
  reject(error: Error): void
}

/** A streamed body whose chunks the test supplies. */
class Feed implements AsyncIterable<Uint8Array> {
  pulled = 0
  returned = false
  #waiting: Waiting | undefined

  get hungry(): boolean {
    return this.#waiting !== undefined
  }

  async give(chunk: string | Uint8Array): Promise<void> {
    await eventually(() => this.hungry)
    this.#settle((to) => to.resolve({ done: false, value: Buffer.from(chunk as string) }))
  }

  async end(): Promise<void> {
    await eventually(() => this.hungry)
    this.#settle((to) => to.resolve({ done: true, value: undefined }))
  }

  async fail(error: Error): Promise<void> {
    await eventually(() => this.hungry)
    this.#settle((to) => to.reject(error))
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () =>
        new Promise((resolve, reject) => {
          this.pulled++
          this.#waiting = { resolve, reject }
        }),
      return: async () => {
        this.returned = true
        return { done: true, value: undefined }
      }
    }
  }

  #settle(act: (to: Waiting) => void): void {
    const to = this.#waiting
    this.#waiting = undefined
    if (to !== undefined) act(to)
  }
}

describe('ingress: streams', () => {
  let ingress: Running
  let feed: Feed
  beforeEach(async () => {
    ingress = await startIngress()
    feed = new Feed()
    ingress.onCall = () => answer({ headers: [['content-type', 'text/event-stream']], body: feed })
  })
  afterEach(() => ingress.close())

  const head = (version = '1.1') =>
    `POST /api/demo/api/ticker HTTP/${version}\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'

  it('send the head before the first chunk, and each chunk as it arrives', async () => {
    const response = await ingress.post('/api/demo/api/ticker', {})
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    assert.equal(response.headers.get('souk-charged'), '0.001')
    assert.equal(response.headers.get('x-accel-buffering'), 'no')
    const reader = response.body?.getReader()
    assert.ok(reader !== undefined)
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      await feed.give(event)
      assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), event)
    }
    await feed.end()
    assert.equal((await reader.read()).done, true)
    assert.equal(feed.returned, false)
  })

  it('leave the connection usable for the next request', async () => {
    const client = new RawClient(ingress.port).send(head())
    await feed.give('one')
    await feed.end()
    await client.until('0\r\n\r\n')
    client.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    await client.until('{"status":"ok"}')
    client.destroy()
  })

  it('are pulled no faster than the client reads', async () => {
    const mebibyte = Buffer.alloc(1 << 20)
    let sent = 0
    ingress.onCall = () =>
      answer({
        body: (async function* () {
          for (; sent < 200; sent++) yield mebibyte
        })()
      })
    const stalled = request(`${ingress.url}/api/demo/api/big`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-consumer-key': ingress.key }
    })
    stalled.end('{}')
    // Without a `data` listener the response stays paused and unread.
    await new Promise((resolve) => stalled.once('response', resolve))
    let before = -1
    await eventually(() => {
      const still = sent === before && sent > 0
      before = sent
      return still
    })
    assert.ok(sent < 100, `${sent} MiB were pulled for a client that reads nothing`)
    stalled.destroy()
  })

  it('are cancelled at the source when the client leaves', async () => {
    const client = new RawClient(ingress.port).send(head())
    await feed.give('data: 1\n\n')
    await client.until('data: 1')
    client.destroy()
    await eventually(() => feed.returned)
    assert.equal(ingress.calls[0]?.signal?.aborted, true)
    assert.deepEqual(ingress.log, [])
  })

  it('do not start for a client that left during the call', async () => {
    let finish = () => {}
    ingress.onCall = async () => {
      await new Promise<void>((resolve) => (finish = resolve))
      return answer({ body: feed })
    }
    const client = new RawClient(ingress.port).send(head())
    await eventually(() => ingress.calls.length === 1)
    client.destroy()
    await eventually(() => ingress.calls[0]?.signal?.aborted === true)
    finish()
    await eventually(() => feed.returned)
    assert.equal(feed.pulled, 0)
  })

  it('that break are cut, never ended', async () => {
    const client = new RawClient(ingress.port).send(head())
    await feed.give('half')
    await client.until('half')
    await feed.fail(new SoukError('call_interrupted'))
    const received = await client.closed()
    assert.ok(!received.includes('\r\n0\r\n'), 'the last chunk would mark the body as complete')
    assert.equal(ingress.log[0]?.message, 'a streamed response broke')

    const again = await ingress.post('/api/demo/api/ticker', {})
    const rest = again.text()
    await feed.give('half')
    await feed.fail(new Error('boom'))
    await assert.rejects(rest)
  })

  it('that break before the first chunk are cut too', async () => {
    const client = new RawClient(ingress.port).send(head())
    await client.until('\r\n\r\n')
    await feed.fail(new Error('boom'))
    assert.ok(!(await client.closed()).includes('\r\n0\r\n'))
  })

  it('that break are reset for HTTP/1.0, where closing would mean a complete body', async () => {
    const client = new RawClient(ingress.port)
    const failure = new Promise<Error>((resolve) => client.socket.once('error', resolve))
    client.send(head('1.0'))
    await feed.give('half')
    await client.until('half')
    await feed.fail(new Error('boom'))
    assert.equal((await failure) instanceof Error && 'code' in (await failure), true)
    await client.closed()
  })

  it('that end are closed for HTTP/1.0', async () => {
    const client = new RawClient(ingress.port).send(head('1.0'))
    await feed.give('whole')
    await feed.end()
    assert.match(await client.closed(), /\r\n\r\nwhole$/)
  })
})

describe('ingress: idle streams', () => {
  it('are cut, and cancelled', async () => {
    let later = 0
    const timers = new Set<() => void>()
    const clock: Clock = {
      ...systemClock,
      elapsed: () => systemClock.elapsed() + later,
      after(delayMs, task) {
        if (delayMs <= limits.DRAIN_MS) return systemClock.after(delayMs, task)
        timers.add(task)
        return { cancel: () => void timers.delete(task) }
      }
    }
    const fire = () => {
      const due = [...timers]
      timers.clear()
      for (const task of due) task()
    }
    const ingress = await startIngress({}, clock)
    try {
      const feed = new Feed()
      ingress.onCall = () => answer({ body: feed })
      const response = await ingress.post('/api/demo/api/ticker', {})
      const rest = assert.rejects(response.text())
      later += limits.STREAM_IDLE_MS / 4
      await feed.give('something')
      await eventually(() => feed.hungry)
      later += limits.STREAM_IDLE_MS * 0.9
      fire()
      assert.equal(feed.returned, false, 'the stream was not idle')
      later += limits.STREAM_IDLE_MS
      fire()
      await rest
      await eventually(() => feed.returned)
      await feed.fail(new Error('cancelled'))
      await eventually(() => timers.size === 0)
    } finally {
      await ingress.close()
    }
  })
})

describe('ingress: uploads', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress({ requestBytesMax: 200_000 })
  })
  afterEach(() => ingress.close())

  const head = (lines: string) =>
    `PUT /api/demo/api/files/a HTTP/1.1\r\nHost: x\r\nX-Consumer-Key: ${ingress.key}\r\n${lines}\r\n\r\n`
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`
  const drain = async (body: unknown) => {
    for await (const _ of body as AsyncIterable<Uint8Array>);
    return answer()
  }

  it('that grow too large are rejected, whatever the reader does', async () => {
    ingress.onCall = async ({ body }) => {
      try {
        return await drain(body)
      } catch (error) {
        throw new SoukError('call_interrupted', undefined, { cause: error })
      }
    }
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked'))
    client.send(chunk(150_000)).send(chunk(100_000))
    const received = await client.until('"code":"request_too_large"')
    assert.match(received, /^HTTP\/1\.1 413 .*\r\nConnection: close/s)
    client.send(chunk(1_000)).send('0\r\n\r\n')
    await client.closed()
  })

  it('with a too large announced length are rejected unread', async () => {
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/octet-stream\r\nContent-Length: 200001'))
    await client.until('"code":"request_too_large"')
    assert.equal(ingress.calls.length, 0)
    client.destroy()
  })

  it('that the owner rejects get the response before they end', async () => {
    ingress.onCall = async ({ body }) => {
      for await (const _ of body as AsyncIterable<Uint8Array>) break
      throw new SoukError('api_paused', undefined, { source: 'owner' })
    }
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked'))
    client.send(chunk(1_000))
    await client.until('"code":"api_paused"')
    client.send(chunk(100_000)).send('0\r\n\r\n')
    await client.closed()
  })

  it('that the owner does not read leave the connection usable if they are small', async () => {
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/octet-stream\r\nContent-Length: 5000')).send('x'.repeat(5000))
    await client.until('{"ok":true}')
    client.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    await client.until('{"status":"ok"}')
    client.destroy()
  })

  it('that the owner stops reading leave the connection usable too', async () => {
    let stopped = false
    ingress.onCall = async ({ body }) => {
      for await (const _ of body as AsyncIterable<Uint8Array>) break
      stopped = true
      return answer()
    }
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/octet-stream\r\nContent-Length: 60000')).send('x'.repeat(1_000))
    await eventually(() => stopped)
    await client.until('{"ok":true}')
    client.send('x'.repeat(59_000)).send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n')
    await client.until('{"status":"ok"}')
    client.destroy()
  })

  it('rejected early return the response to clients that read only after sending', async () => {
    const client = new RawClient(ingress.port)
    client.socket.pause()
    client.send(head('Content-Type: application/json\r\nContent-Length: 8000000'))
    for (let i = 0; i < 8; i++) {
      client.send(Buffer.alloc(1_000_000, 'x'))
      await client.written()
    }
    client.socket.resume()
    await client.until('"code":"request_too_large"')
    await client.closed()
  })

  it('that stop arriving abort the call', async () => {
    let failed = false
    ingress.onCall = async ({ body }) => {
      try {
        return await drain(body)
      } finally {
        failed = true
      }
    }
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/octet-stream\r\nContent-Length: 1000')).send('half')
    await eventually(() => ingress.calls.length === 1)
    client.destroy()
    await eventually(() => failed)
    assert.equal(ingress.calls[0]?.signal?.aborted, true)
    assert.deepEqual(ingress.log, [])
  })

  it('of incomplete JSON make no call', async () => {
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/json\r\nContent-Length: 1000')).send('{"half":')
    client.destroy()
    await ingress.post('/api/demo/api/ticker', {})
    assert.equal(ingress.calls.length, 1)
    assert.deepEqual(ingress.log, [])
  })

  for (const [what, length] of [
    ['announced', 'Content-Length: 300000'],
    ['chunked', 'Transfer-Encoding: chunked']
  ] as const) {
    it(`of too large JSON (${what}) are rejected, and the client can read the response`, async () => {
      const client = new RawClient(ingress.port)
      client.send(head(`Content-Type: application/json\r\n${length}`))
      const block = what === 'chunked' ? chunk(50_000) : 'x'.repeat(50_000)
      for (let i = 0; i < 5; i++) client.send(block)
      await client.until('"code":"request_too_large"')
      client.send(block)
      if (what === 'chunked') client.send('0\r\n\r\n')
      assert.match(await client.closed(), /^HTTP\/1\.1 413 /)
    })
  }

  it('of a client that never stops are cut after a time limit', async function () {
    const client = new RawClient(ingress.port)
    client.send(head('Content-Type: application/json\r\nTransfer-Encoding: chunked'))
    const flood = setInterval(() => client.send(chunk(50_000)), 10)
    try {
      await client.until('"code":"request_too_large"')
      await client.closed()
    } finally {
      clearInterval(flood)
      client.destroy()
    }
  })
})
