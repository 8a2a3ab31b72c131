import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { type Client, type ClientInit, createClient, isSoukError } from '../../client/index.ts'
import { fails } from './fails.ts'

/** A value that only a page without TypeScript can pass. */
const untyped = (value: unknown) => value as never

describe('options of souk/client', () => {
  const sent: string[] = []
  const fetch: NonNullable<ClientInit['fetch']> = async (url) => {
    sent.push(url)
    return Response.json({}, { headers: { 'Souk-Charged': '0', 'X-Request-Id': '1' } })
  }
  const client: Client = createClient({ ingress: 'http://ingress.example', fetch })
  beforeEach(() => sent.splice(0))

  for (const [init, message] of [
    [undefined, /^The options of `createClient` must be an object/],
    ['http://a', /must be an object/],
    [{}, /^"ingress" must be an address/],
    [{ ingress: 'http://a', maxprice: '0.01' }, /cannot have "maxprice", only: ingress, key, fetch, maxPrice, /],
    [{ ingress: 'http://a', toString: 1 }, /cannot have "toString"/],
    [{ ingress: 'http://a', maxPrice: 0.01 }, /^"maxPrice" must be of type string/],
    [{ ingress: 'http://a', payment: '0x' }, /^"payment" must be of type function/],
    [{ ingress: 'http://a', fetch: {} }, /^"fetch" must be of type function/],
    [{ ingress: 'http://a', retries: '2' }, /^"retries" must be of type number/],
    ...[-1, 1.5, Number.NaN, Infinity].map((retries) => [
      { ingress: 'http://a', retries },
      /^"retries" must be a whole/
    ]),
    ...[0, -1, 1.5, Number.NaN, Infinity, 120_001].map((timeoutMs) => [
      { ingress: 'http://a', timeoutMs },
      /^"timeoutMs" must be a whole number of milliseconds, 1 to 120000/
    ])
  ] as ReadonlyArray<readonly [unknown, RegExp]>) {
    it(`of a wrong name, type or range are refused: ${inspect(init)}`, () => {
      assert.throws(
        () => createClient(untyped(init)),
        (error) => isSoukError(error) && error.code === 'invalid_request' && message.test(error.message)
      )
    })
  }

  for (const [options, message] of [
    [null, /^The options of a call must be an object/],
    [{ maxprice: '0.01' }, /cannot have "maxprice"/],
    [{ maxPrice: 1 }, /^"maxPrice" must be of type string/],
    [{ method: 5 }, /^"method" must be of type string/],
    [{ headers: 'Accept: */*' }, /^"headers" must be of type object/],
    [{ signal: new AbortController() }, /^"signal" must be an AbortSignal/],
    [{ timeoutMs: '1000' }, /^"timeoutMs" must be of type number/]
  ] as const) {
    it(`of a call are refused before it is sent: ${JSON.stringify(options)}`, async () => {
      const error = await fails(client.call('a', 'b', {}, untyped(options)), 'invalid_request')
      assert.match(error.message, message)
      assert.deepEqual(sent, [])
    })
  }

  it('that are undefined have their defaults', async () => {
    const init = { ingress: 'http://ingress.example', fetch, key: undefined, retries: undefined }
    const options = { maxPrice: undefined, signal: undefined }
    await createClient(init).call('a', 'b', {}, options)
    assert.equal(sent.length, 1)
  })

  it('include a fetch of a framework, whose own errors pass', async () => {
    const dynamic = Object.assign(new Error('Dynamic server usage'), { digest: 'DYNAMIC_SERVER_USAGE' })
    const ofNext = createClient({ ingress: 'http://ingress.example', fetch: () => Promise.reject(dynamic) })
    await assert.rejects(ofNext.call('a', 'b'), (error) => error === dynamic)
  })
})
