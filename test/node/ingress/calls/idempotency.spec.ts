import assert from 'node:assert/strict'
import type { CallReply } from '../../../../lib/interface/index.ts'
import { answer, eventually, type Running, startIngress } from '../harness.ts'

const PATH = '/api/demo/api/ticker'

describe('ingress: idempotency keys', () => {
  let ingress: Running
  before(async () => {
    ingress = await startIngress()
  })
  after(() => ingress.close())
  beforeEach(() => {
    ingress.onCall = () => answer()
  })

  const post = (key: string, headers: Record<string, string> = {}) =>
    ingress.post(PATH, {}, { 'idempotency-key': key, ...headers })

  it('are equal with and without quotes', async () => {
    const forms: Array<[header: string, key: string]> = [
      ['abc', 'abc'],
      ['"abc"', 'abc'],
      ['"a b"', 'a b'],
      ['"a\\"b\\\\c"', 'a"b\\c'],
      ['a"b"', 'a"b"'],
      ['8e03978e-40d5-43dd-bc93-6894a57f9324', '8e03978e-40d5-43dd-bc93-6894a57f9324']
    ]
    for (const [header, key] of forms) {
      assert.equal((await post(header)).status, 200)
      assert.equal(ingress.calls.at(-1)?.idempotencyKey, key)
    }
  })

  it('are rejected if malformed', async () => {
    const before = ingress.calls.length
    for (const header of ['""', '"abc', '"a"b"', '"a\\n"', `"${'x'.repeat(256)}"`, '"a";b=1']) {
      assert.equal((await post(header)).status, 400, header)
    }
    assert.equal(ingress.calls.length, before)
  })

  it('mark replayed responses, and no others', async () => {
    assert.equal((await post('a')).headers.get('idempotency-replayed'), null)
    ingress.onCall = () => answer({ replayed: true, charged: 0n })
    const reply = await post('a')
    assert.deepEqual([reply.headers.get('idempotency-replayed'), reply.headers.get('souk-charged')], ['true', '0'])
  })

  /** Posts, and disconnects while the call runs. Returns the call's signal, which shows if the call was aborted. */
  async function leave(headers: Record<string, string>, finish: Promise<CallReply>): Promise<AbortSignal | undefined> {
    const gone = new AbortController()
    const before = ingress.calls.length
    ingress.onCall = () => finish
    const left = fetch(ingress.url + PATH, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', 'x-consumer-key': ingress.key, ...headers },
      signal: gone.signal
    })
    const refused = assert.rejects(left)
    await eventually(() => ingress.calls.length > before)
    gone.abort()
    await refused
    return ingress.calls.at(-1)?.signal
  }

  it('let a call continue after its client leaves; other calls are aborted', async () => {
    const never = new Promise<CallReply>(() => {})
    const signal = await leave({}, never)
    await eventually(() => signal?.aborted === true)
    const { promise, resolve } = Promise.withResolvers<CallReply>()
    assert.equal(await leave({ 'idempotency-key': 'kept' }, promise), undefined)
    let isLet = false
    const watched: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => ((isLet = true), { done: true, value: undefined })
      })
    }
    resolve(answer({ body: watched }))
    await eventually(() => isLet)
  })
})
