import assert from 'node:assert/strict'
import { eventually, PROVIDER, type Running, RawClient, startIngress } from '../harness.ts'

const OTHER = `12D3KooW${'A'.repeat(44)}`

describe('ingress: a key that is rotated under load', () => {
  it('fails no call with the old key during the overlap, or with the new key', async () => {
    const ingress = await startIngress()
    const statuses: number[] = []
    let { id, key } = await ingress.keys.issue()
    const over = new AbortController()
    const client = async (): Promise<void> => {
      while (!over.signal.aborted)
        statuses.push((await ingress.post('/api/demo/api/ticker', {}, { 'x-consumer-key': key })).status)
    }
    const clients = Promise.all(Array.from({ length: 8 }, client))
    for (let i = 0; i < 5; i++) {
      const answered = statuses.length
      await eventually(() => statuses.length > answered + 20)
      const next = await ingress.keys.rotate(id)
      await eventually(() => statuses.length > answered + 40)
      ;({ id, key } = next)
    }
    over.abort()
    await clients
    assert.deepEqual([...new Set(statuses)], [200])
    await ingress.close()
  })
})

describe('ingress: a key limited to some APIs', () => {
  let ingress: Running
  const keyFor = async (...apis: string[]) => ({ 'x-consumer-key': (await ingress.keys.issue({ apis })).key })
  const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

  beforeEach(async () => {
    ingress = await startIngress()
  })
  afterEach(() => ingress.close())

  it('calls the allowed APIs', async () => {
    const key = await keyFor('ticker', `shop@${PROVIDER}`)
    assert.equal((await ingress.post('/api/demo/api/ticker', {}, key)).status, 200)
    assert.equal((await ingress.post(`/api/${PROVIDER}/api/shop`, {}, key)).status, 200)
    assert.equal((await ingress.post('/api/demo/api/shop', {}, key)).status, 200)
    assert.deepEqual(ingress.calls.at(-1)?.api, { name: 'shop', provider: PROVIDER })
  })

  it('is rejected for other APIs before any lookup or read', async () => {
    const key = await keyFor(`ticker@${PROVIDER}`)
    ingress.onResolve = () => assert.fail('nothing is to be looked up')
    for (const path of ['/api/demo/api/other', `/api/${OTHER}/api/ticker`, '/api/demo/api/ticker-2/sub']) {
      const refused = await ingress.post(path, {}, key)
      assert.deepEqual([refused.status, await codeOf(refused)], [403, 'key_not_permitted'], path)
    }
    const client = new RawClient(ingress.port)
    client.send(
      `POST /api/demo/api/other HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
        `X-Consumer-Key: ${key['x-consumer-key']}\r\nContent-Length: 100\r\n\r\n{`
    )
    assert.match(await client.until('key_not_permitted'), /^HTTP\/1.1 403 /)
    client.destroy()
    assert.equal(ingress.calls.length, 0)
  })

  it('cannot open an event stream of another API', async () => {
    const key = await keyFor('ticker')
    const refused = await fetch(`${ingress.url}/api/demo/api/users`, { method: 'PUT', headers: key })
    assert.deepEqual([refused.status, await codeOf(refused)], [403, 'key_not_permitted'])
  })
})
