import assert from 'node:assert/strict'
import { RawClient } from '../ingress/harness.ts'
import { type Bench, startBench, TOKEN } from './harness.ts'

const RECEIVE_MS = 300

describe('admin API: connections', () => {
  let bench: Bench
  let port: number
  const clients: RawClient[] = []

  before(async () => {
    bench = await startBench({}, undefined, { receiveMs: RECEIVE_MS })
    port = Number(new URL(bench.url).port)
  })
  afterEach(() => clients.splice(0).forEach((each) => each.destroy()))
  after(() => bench.stop())

  const client = () => {
    const made = new RawClient(port)
    clients.push(made)
    return made
  }
  const host = () => `Host: 127.0.0.1:${port}\r\n`
  const token = `Authorization: Bearer ${TOKEN}\r\n`

  for (const [what, request] of [
    ['say nothing', () => ''],
    ['send half of a header', () => `GET /admin/v1/status HTTP/1.1\r\n${host()}Auth`],
    [
      'send half of a body',
      () =>
        `POST /admin/v1/setup-codes HTTP/1.1\r\n${host()}${token}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`
    ]
  ] as const) {
    it(`closes connections that ${what} in time`, async () => {
      await client().send(request()).closed()
    })
  }

  for (const [what, request] of [
    ['two hosts', () => `GET /admin/v1/status HTTP/1.1\r\n${host()}host: evil.example\r\n${token}\r\n`],
    ['the same host twice', () => `GET /admin/v1/status HTTP/1.1\r\n${host()}${host()}${token}\r\n`],
    ['a malformed path', () => `GET /admin/v1/keys/%zz HTTP/1.1\r\n${host()}${token}\r\n`],
    ['bytes that are no HTTP', () => 'hello\r\n\r\n'],
    ['no host', () => `GET /admin/v1/status HTTP/1.1\r\n${token}\r\n`],
    [
      'a target in absolute form',
      () => `GET http://127.0.0.1:${port}/admin/v1/status HTTP/1.1\r\n${host()}${token}\r\n`
    ],
    ['a target of another host', () => `GET http://evil.example/admin/v1/status HTTP/1.1\r\n${host()}${token}\r\n`],
    [
      'a length and chunks',
      () =>
        `POST /admin/v1/setup-codes HTTP/1.1\r\n${host()}${token}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    ]
  ] as const) {
    it(`responds to ${what} with 400 and a problem document`, async () => {
      const received = await client().send(request()).until('"source"')
      assert.match(received, /^HTTP\/1\.1 400 /)
      assert.match(received, /\r\ncontent-type: application\/problem\+json/i)
      assert.match(received, /"code":"invalid_request"/)
    })
  }

  it('refuses JSON that is not UTF-8, which it could only store with other characters', async () => {
    const reply = await fetch(`${bench.url}/admin/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: Buffer.from('{"label":"Café"}', 'latin1')
    })
    assert.equal(reply.status, 400)
    assert.match(await reply.text(), /not UTF-8/)
  })

  it('serves the next request', async () => {
    const received = await client().send(`GET /admin/v1/status HTTP/1.1\r\n${host()}${token}\r\n`).until('"uptime_ms"')
    assert.match(received, /^HTTP\/1\.1 200 /)
  })
})
