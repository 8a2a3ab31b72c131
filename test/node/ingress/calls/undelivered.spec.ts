import assert from 'node:assert/strict'
import { limits } from '../../../../lib/index.ts'
import { manifestOf } from '../../../lib/resolve/fixtures.ts'
import { answer, PROVIDER, type Running, startIngress } from '../harness.ts'

const KIB = 1024
/** Memory of one key. */
const SHARE = 512 * KIB
const RESULT = Buffer.from(JSON.stringify({ data: { text: 'x'.repeat(150 * KIB) } }))
const OPERATIONS = 20

interface Result {
  readonly data?: unknown
  readonly errors?: ReadonlyArray<{ readonly extensions: { readonly code: string } }>
}

describe('ingress: a response that the provider charged', () => {
  let ingress: Running
  beforeEach(async () => {
    ingress = await startIngress({ heldBytesMax: SHARE * limits.HELD_HOLDER_PART })
    const manifest = manifestOf(PROVIDER, { name: 'counts', protocol: 'GraphQL' })
    const signed = { id: `counts@${PROVIDER}`, envelope: new Uint8Array(0), manifest } as const
    ingress.onResolve = async () => ({ signed, owners: [] })
  })
  afterEach(() => ingress.close())

  async function* streamed() {
    for (let at = 0; at < RESULT.length; at += 16 * KIB) yield RESULT.subarray(at, at + 16 * KIB)
  }

  for (const [how, body] of [
    ['whole', () => RESULT],
    ['streamed', streamed]
  ] as const) {
    it(`is delivered in a batch, ${how}: without memory, an operation is refused before it runs`, async () => {
      ingress.onCall = () => answer({ body: body() })
      const batch = Array.from({ length: OPERATIONS }, () => ({ query: '{ text }' }))
      const response = await ingress.post('/api/demo/api/counts', batch)
      const results = (await response.json()) as Result[]
      const delivered = results.filter(({ data }) => data !== undefined)
      assert.equal(results.length, OPERATIONS)
      assert.equal(delivered.length, ingress.calls.length)
      assert.ok(delivered.length >= 3 && delivered.length < OPERATIONS, `${delivered.length} results`)
      assert.equal(
        response.headers.get('souk-charged'),
        `0.0${String(delivered.length).padStart(2, '0')}`.replace(/0$/, '')
      )
      const codes = new Set(results.flatMap(({ errors = [] }) => errors.map(({ extensions }) => extensions.code)))
      assert.deepEqual([...codes], ['overloaded'])
    })
  }

  it('to its own payment, and cannot be delivered, is not said to have cost nothing', async () => {
    await ingress.close()
    ingress = await startIngress({ x402: true })
    ingress.onCall = () => answer({ status: 700 })
    const headers = { 'x-consumer-key': '', 'payment-signature': 'e30=' }
    const response = await ingress.post('/api/demo/api/counts', {}, headers)
    const { code, charged, not_accepted: notAccepted } = (await response.json()) as Record<string, unknown>
    assert.deepEqual([code, charged, notAccepted], ['settlement_pending', null, undefined])
  })
})
