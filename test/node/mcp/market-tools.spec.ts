import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/index.ts'
import { marketTools } from '../../../node/mcp/market-tools.ts'
import { answer, type Running, startIngress } from '../ingress/harness.ts'
import { type AgentClient, connectCurrent } from './clients.ts'
import { signed } from './signed.ts'

/** Model vendors reject a list of tools with one of these in a schema. */
const REJECTED = /"(?:\$ref|\$defs|propertyNames|\$schema)"/

describe('the tools of the marketplace', () => {
  let ingress: Running
  let agent: AgentClient
  const counted = {
    operations: [
      {
        name: 'count',
        output: { type: 'object', properties: { n: { type: 'integer' }, note: { type: 'string' } }, required: ['n'] }
      }
    ]
  }
  before(async () => {
    ingress = await startIngress({})
    const bank = signed('bank', counted)
    ingress.onResolve = () => Promise.resolve({ signed: bank, owners: [] })
    agent = await connectCurrent({ url: `${ingress.url}/mcp?api=bank`, headers: { 'x-consumer-key': ingress.key } })
  })
  after(async () => {
    await agent?.close()
    await ingress?.close()
  })

  const texts = async (tool: string, given: Record<string, unknown>) => {
    const { isError, content } = await agent.call(tool, given)
    assert.equal(isError, true)
    return content.map((each) => String(each['text']))
  }

  it('have schemas that model vendors accept', () => {
    assert.doesNotMatch(JSON.stringify(marketTools()), REJECTED)
  })

  it('reject arguments that they do not know, and say which they know', async () => {
    // Ignored, a limit would not hold, and a repeat would be paid again.
    for (const [tool, given] of [
      ['souk_call', { api: 'bank', max_price: '1', idempotencyKey: 'once' }],
      ['souk_show', { api: 'bank', op: 'count' }],
      ['souk_search', { q: 'weather' }]
    ] as const) {
      const [problem = ''] = await texts(tool, given)
      const { code, detail } = JSON.parse(problem) as Record<string, string>
      assert.equal(code, 'invalid_request')
      assert.match(detail ?? '', new RegExp(`^unknown: \\w+; ${tool} takes `))
    }
    assert.equal(ingress.calls.length, 0)
  })

  it('say how to write a price', async () => {
    const [problem = ''] = await texts('souk_call', { api: 'bank', max_price: 0.01 })
    assert.match(problem, /max_price: give a decimal number of USDC as a text, like \\"0\.01\\"/)
  })

  it('say that a call succeeded and cost money if its response is no structured content', async () => {
    const got = async (body: Uint8Array, status = 200) => {
      ingress.onCall = () => answer({ status, body, charged: 1_000n })
      return (await texts('bank_count', {}))[0]
    }
    const costs = '0.001 USDC were charged. A repeat costs again.'
    assert.equal(
      await got(Buffer.from('{"n":"x"}')),
      `The call succeeded, but the response does not match the output schema of the provider. ${costs}`
    )
    assert.equal(await got(new Uint8Array(), 204), `The call succeeded, with status 204 and without content. ${costs}`)
    assert.equal(await got(Buffer.alloc(300_000, ' ')), `The call succeeded, but the response is incomplete. ${costs}`)
  })

  it('take a paid response whose members are absent or null', async () => {
    for (const body of [{ n: 1, note: null }, { n: null }, { note: 'x' }, {}]) {
      ingress.onCall = () => answer({ status: 200, body: Buffer.from(JSON.stringify(body)), charged: 1_000n })
      const { isError, structuredContent } = await agent.call('bank_count', {})
      assert.deepEqual([isError, structuredContent], [undefined, body])
    }
  })

  it('advise an agent whose key does not permit it to use another key', async () => {
    ingress.onCall = () => Promise.reject(new SoukError('key_not_permitted', 'This key can only make calls.'))
    const [problem = ''] = await texts('bank_count', {})
    assert.match(problem, /ask your user for another key/)
  })
})
