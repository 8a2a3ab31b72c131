import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { limits, systemRandom } from '../../../lib/index.ts'
import type { Documents } from '../../../lib/interface/index.ts'
import type { SoukEvent } from '../../../node/events/event-types.ts'
import { Events } from '../../../node/events/events.ts'
import { Webhooks } from '../../../node/events/webhooks.ts'
import { NodeGuard } from '../../../node/upstream/guard.ts'
import { createSecretBox, SECRET_BOX_KEY_BYTES } from '../../../node/upstream/secret-box.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'
import { eventually, memoryDocuments } from '../ingress/harness.ts'

interface Received {
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly event: SoukEvent
}

describe('webhooks', () => {
  let clock: ManualClock
  let documents: Documents
  let server: Server
  let url: string
  let received: Received[]
  let answers: Array<{ status: number; headers?: Record<string, string> }>
  let events: Events
  let webhooks: Webhooks
  let logged: string[]

  async function start(key = 1): Promise<void> {
    const log = { info: (line: string) => logged.push(line), error: (line: string) => logged.push(line) }
    const seams = { clock, random: systemRandom, log }
    events = new Events(seams)
    const secretBox = createSecretBox(Buffer.alloc(SECRET_BOX_KEY_BYTES, key))
    const guard = new NodeGuard()
    guard.addPort(3000)
    webhooks = new Webhooks({ ...seams, documents, events, secretBox, guard })
    await webhooks.start()
  }

  beforeEach(async () => {
    clock = manualClock()
    documents = memoryDocuments()
    received = []
    answers = []
    logged = []
    server = createServer((request, response) => {
      void text(request).then((body) => {
        received.push({ headers: request.headers, body, event: JSON.parse(body) as SoukEvent })
        const { status, headers } = answers.shift() ?? { status: 204 }
        response.writeHead(status, headers).end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=t`
    await start()
  })
  afterEach(async () => {
    await webhooks.stop()
    server.closeAllConnections()
    server.close()
  })

  const add = (given: { events?: string[] } = {}) => webhooks.add({ url, allowsPrivate: true, ...given })
  const paused = (api = 'a@b') => events.emit('listing.paused', { api })
  const arrived = (count: number) => eventually(() => received.length >= count)
  const idle = () => eventually(() => webhooks.list().every(({ pending }) => pending === 0))

  it('receive an event with headers and signature of Standard Webhooks', async () => {
    const { secret } = await add()
    await paused()
    await arrived(1)
    const [{ headers, body, event } = assert.fail()] = received
    assert.equal(headers['webhook-id'], event.id)
    assert.deepEqual([event.type, event.data], ['listing.paused', { api: 'a@b' }])
    assert.equal(headers['webhook-timestamp'], String(Math.floor(clock.now() / 1000)))
    assert.equal(Date.parse(event.timestamp), clock.now())
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const signed = `${event.id}.${headers['webhook-timestamp']}.${body}`
    const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
    assert.equal(String(headers['webhook-signature']).split(' ')[0], expected)
    await idle()
  })

  it('receive only the chosen types', async () => {
    await add({ events: ['listing.*', 'key.revoked'] })
    await events.emit('key.issued', { key: 'k', label: '', hint: '' })
    await events.emit('key.revoked', { key: 'k', label: '', hint: '' })
    await paused()
    await arrived(2)
    await idle()
    assert.deepEqual(received.map(({ event }) => event.type).sort(), ['key.revoked', 'listing.paused'])
  })

  it('do not follow redirects: only the URL itself can accept an event', async () => {
    await add()
    answers = [301, 302, 303, 307, 308].map((status) => ({ status, headers: { location: '/login' } }))
    await paused()
    for (const [index, { status }] of [...answers].entries()) {
      await arrived(index + 1)
      await eventually(() => webhooks.list()[0]?.failed === `The endpoint responded with status ${status}.`)
      await clock.advance(limits.WEBHOOK_RETRY_MS[index]! * 1.1)
    }
    await arrived(6)
    await idle()
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
  })

  it('receive an event again with the same id, by the retry schedule, until they accept it', async () => {
    await add()
    answers = [{ status: 500 }, { status: 302, headers: { location: 'http://169.254.169.254/' } }, { status: 200 }]
    await paused()
    await arrived(1)
    await eventually(() => webhooks.list()[0]?.failed === 'The endpoint responded with status 500.')
    await clock.advance(4_999)
    assert.equal(received.length, 1)
    await clock.advance(600)
    await arrived(2)
    await eventually(() => webhooks.list()[0]?.failed !== 'The endpoint responded with status 500.')
    await clock.advance(5 * 60_000 * 1.1)
    await arrived(3)
    await idle()
    assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
    assert.equal(webhooks.list()[0]?.failed, undefined)
  })

  it('wait for a new secret if the key of the profile is lost', async () => {
    const { id } = await add()
    await webhooks.stop()
    await start(2)
    await paused()
    await eventually(() => /souk webhook rotate-secret wh_/.test(webhooks.list()[0]?.failed ?? ''))
    const [{ publicKey, pending } = assert.fail()] = webhooks.list()
    assert.deepEqual([publicKey, pending, received.length], ['', 1, 0])
    await webhooks.rotate(id)
    await clock.advance(limits.WEBHOOK_RETRY_MS[0]! * 1.1)
    await arrived(1)
    await idle()
    assert.equal(webhooks.list()[0]?.failed, undefined)
  })

  it('can delay a retry with Retry-After', async () => {
    await add()
    answers = [{ status: 503, headers: { 'retry-after': '600' } }]
    await paused()
    await arrived(1)
    await eventually(() => webhooks.list()[0]?.failed !== undefined)
    await clock.advance(599_000)
    assert.equal(received.length, 1)
    await clock.advance(1_000)
    await arrived(2)
  })

  it('that respond with 410 are disabled', async () => {
    const { id } = await add()
    answers = [{ status: 410 }]
    await paused()
    await eventually(() => webhooks.list()[0]?.disabled !== undefined)
    assert.match(webhooks.list()[0]?.disabled ?? '', /410/)
    await paused()
    assert.equal(webhooks.list()[0]?.pending, 0)
    assert.equal(events.feed.last().find(({ type }) => type === 'webhook.disabled')?.data['webhook'], id)
    await webhooks.enable(id)
    await paused('c@d')
    await arrived(2)
    assert.deepEqual(received[1]?.event.data, { api: 'c@d' })
  })

  it('that accept nothing for days are disabled', async () => {
    await add()
    answers = Array.from({ length: 9 }, () => ({ status: 500 }))
    await paused()
    for (const [at, ms] of limits.WEBHOOK_RETRY_MS.entries()) {
      await arrived(at + 1)
      await eventually(() => webhooks.list()[0]?.pending === 1)
      // The next attempt is scheduled only after the last result is stored.
      await eventually(() => clock.pending > 0)
      await clock.advance(ms * 1.1 + limits.WEBHOOK_LOOK_MS)
    }
    await arrived(9)
    await eventually(() => webhooks.list()[0]?.disabled !== undefined)
    assert.match(webhooks.list()[0]?.disabled ?? '', /failed for days.*500/)
    assert.equal(received.length, 9)
  })

  it('receive undelivered events after a restart', async () => {
    await add()
    server.close()
    server.closeAllConnections()
    await paused()
    await eventually(() => webhooks.list()[0]?.failed !== undefined)
    await webhooks.stop()
    await start()
    const { port } = new URL(url)
    server.listen(Number(port), '127.0.0.1')
    await once(server, 'listening')
    await clock.advance(6_000)
    await arrived(1)
    assert.deepEqual(received[0]?.event.data, { api: 'a@b' })
    await idle()
  })

  it('queue a limited number of events, and drop the oldest', async () => {
    await add()
    answers = Array.from({ length: 5_000 }, () => ({ status: 500 }))
    for (let i = 0; i < limits.WEBHOOK_QUEUE_MAX + 10; i++) await paused(String(i))
    assert.ok((webhooks.list()[0]?.pending ?? 0) <= limits.WEBHOOK_QUEUE_MAX + limits.WEBHOOK_AT_ONCE)
    assert.equal(
      (await documents.list('webhook-deliveries')).some(({ value }) =>
        value.includes(`"${limits.WEBHOOK_QUEUE_MAX + 9}"`)
      ),
      true
    )
  })

  it('have encrypted secrets, which can be rotated', async () => {
    const { id, secret } = await add()
    const stored = JSON.stringify(await documents.list('webhooks'))
    assert.ok(!stored.includes(secret.slice('whsec_'.length)))
    assert.ok(!JSON.stringify(webhooks.list()).includes('whsec_'))
    const rotated = await webhooks.rotate(id)
    assert.notEqual(rotated.secret, secret)
    await paused()
    await arrived(1)
    assert.equal(String(received[0]?.headers['webhook-signature']).split(' ').length, 4)
    await idle()
    await clock.advance(limits.WEBHOOK_OVERLAP_MS)
    await paused()
    await arrived(2)
    assert.equal(String(received[1]?.headers['webhook-signature']).split(' ').length, 2)
  })

  describe('that change while a delivery result is stored', () => {
    /** Delays all writes of webhooks until the returned function is called. */
    const holdWrites = (): (() => void) => {
      const { put } = documents
      const { promise, resolve } = Promise.withResolvers<void>()
      documents.put = async (collection, key, value) => {
        if (collection === 'webhooks') await promise
        return put(collection, key, value)
      }
      return resolve
    }
    const told = async () => {
      await paused()
      await arrived(1)
      await idle()
      await settle()
    }

    it('sign with their new secret', async () => {
      const { id } = await add()
      const release = holdWrites()
      const rotating = webhooks.rotate(id)
      await told()
      release()
      const { public_key } = await rotating
      await settle()
      assert.equal(webhooks.list()[0]?.publicKey, public_key)
      await webhooks.stop()
      await start()
      assert.equal(webhooks.list()[0]?.publicKey, public_key)
    })

    it('stay removed', async () => {
      const { id } = await add()
      const release = holdWrites()
      await told()
      const removing = webhooks.remove(id)
      release()
      await removing
      await settle()
      assert.deepEqual(webhooks.list(), [])
      assert.deepEqual(await documents.list('webhooks'), [])
    })
  })

  it('receive a test event at once', async () => {
    const { id } = await add({ events: ['key.issued'] })
    assert.equal((await webhooks.test(id, AbortSignal.timeout(30_000))).fate, 'taken')
    assert.equal(received[0]?.event.type, 'webhook.test')
    answers = [{ status: 500 }]
    assert.deepEqual(await webhooks.test(id, AbortSignal.timeout(30_000)), {
      fate: 'failed',
      why: 'The endpoint responded with status 500.'
    })
    assert.equal(webhooks.list()[0]?.pending, 0)
  })

  it('never reach this machine unless allowed', async () => {
    const { id } = await add()
    // As if a name had resolved to a public address when the webhook was added.
    const stored = JSON.parse((await documents.get('webhooks', id)) ?? '') as object
    await documents.put('webhooks', id, JSON.stringify({ ...stored, allowsPrivate: false }))
    await webhooks.stop()
    await start()
    const outcome = await webhooks.test(id, AbortSignal.timeout(30_000))
    assert.equal(outcome.fate, 'failed')
    assert.match(outcome.fate === 'failed' ? outcome.why : '', /never connects to/)
    assert.equal(received.length, 0)
  })

  it('must be https URLs with existing event types, and are limited in number', async () => {
    for (const bad of [
      'http://example.com/',
      'ftp://x/',
      'https://u:p@example.com/',
      'nonsense',
      'https://example.com/#part',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://192.168.1.1:8443/',
      'https://localhost/',
      'https://hooks.localhost./',
      `https://x/${'a'.repeat(3_000)}`
    ]) {
      await assert.rejects(webhooks.add({ url: bad }), { code: 'invalid_request' })
    }
    const own = { url: 'http://localhost:3000/', allowsPrivate: true }
    await assert.rejects(webhooks.add(own), { code: 'invalid_request', message: /this node itself/ })
    await assert.rejects(webhooks.add({ url: 'https://x/', events: ['no.such'] }), { code: 'invalid_request' })
    for (let i = 0; i < limits.WEBHOOKS_MAX; i++) await webhooks.add({ url: 'https://example.com/' })
    await assert.rejects(webhooks.add({ url: 'https://example.com/' }), { code: 'quota_exceeded' })
    const [{ id } = assert.fail()] = webhooks.list()
    await webhooks.remove(id)
    await assert.rejects(webhooks.remove(id), { code: 'invalid_request' })
  })
})
