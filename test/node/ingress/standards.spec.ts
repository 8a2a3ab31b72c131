import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/index.ts'
import { answer, type Running, startIngress } from './harness.ts'

const PATH = '/api/demo/api/ticker'

/** What the standards in docs/reference/standards.md demand, where no other spec has it. */
describe('ingress: standards', () => {
  let ingress: Running
  before(async () => {
    ingress = await startIngress()
  })
  after(() => ingress.close())
  beforeEach(() => {
    ingress.onCall = () => answer()
  })

  it('each error is a problem document (RFC 9457)', async () => {
    const errors = [
      await ingress.post(PATH, '{'),
      await ingress.post(PATH, {}, { 'x-consumer-key': 'nonsense' }),
      await ingress.post(PATH, {}, { 'idempotency-key': '""' }),
      await fetch(`${ingress.url}/nowhere`),
      await fetch(`${ingress.url}/mcp`),
      await ingress.post('/mcp', '{')
    ]
    for (const response of errors) {
      assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/)
      const { type, title, status, detail } = (await response.json()) as Record<string, unknown>
      assert.equal(status, response.status)
      for (const text of [type, title, detail]) assert.ok(typeof text === 'string' && text !== '')
      assert.ok(URL.canParse(String(type), 'https://example.org'))
    }
  })

  it('a repeat of a running or another request has the status of draft-ietf-httpapi-idempotency-key-header-08', async () => {
    for (const [code, status] of [
      ['idempotency_in_flight', 409],
      ['idempotency_mismatch', 422]
    ] as const) {
      ingress.onCall = () => Promise.reject(new SoukError(code))
      const response = await ingress.post(PATH, {}, { 'idempotency-key': '"8e03978e"' })
      assert.deepEqual([response.status, ((await response.json()) as { code: string }).code], [status, code])
    }
  })

  it('a signature of Web Bot Auth is neither an error nor a key, and stays here', async () => {
    const signature = {
      'signature-agent': '"https://bot.example"',
      'signature-input': 'sig=("@authority" "signature-agent");created=1;keyid="k";tag="web-bot-auth"',
      signature: 'sig=:AAAA:'
    }
    assert.equal((await ingress.post(PATH, {}, { ...signature, 'x-consumer-key': '' })).status, 401)
    assert.equal((await ingress.post(PATH, {}, signature)).status, 200)
    const sent = ingress.calls.at(-1)?.headers?.map(([name]) => name) ?? []
    assert.deepEqual(
      sent.filter((name) => name.startsWith('signature')),
      []
    )
  })
})
