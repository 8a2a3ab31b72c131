import assert from 'node:assert/strict'
import { candleAt } from '../../../node/demo/candle.ts'
import type { DemoServer } from '../../../node/demo/demo-server.ts'
import { startTicker } from '../../../node/demo/ticker.ts'
import { demoAlone } from '../../helpers/demo-alone.ts'
import { within } from '../../helpers/eventually.ts'

describe('the demo ticker', () => {
  let ticker: DemoServer
  before(async () => {
    ticker = await startTicker()
  })
  after(() => ticker.close())

  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(ticker.url, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) })

  it('returns a candle for a JSON request', async () => {
    const response = await post({ symbol: 'btc-usd', interval: '5m' })
    assert.equal(response.status, 200)
    const candle = (await response.json()) as Record<string, unknown>
    const { symbol, interval, time, open, high, low, close, volume, note } = candle
    assert.deepEqual([symbol, interval], ['BTC-USD', '5m'])
    assert.equal(Date.parse(String(time)) % 300_000, 0)
    for (const price of [open, high, low, close, volume]) assert(Number(price) > 0)
    assert(Number(low) <= Math.min(Number(open), Number(close)))
    assert(Number(high) >= Math.max(Number(open), Number(close)))
    assert.match(String(note), /play data/)
  })

  it('accepts a query too, with one minute by default', async () => {
    const response = await fetch(`${ticker.url}?symbol=ETH`)
    const { symbol, interval } = (await response.json()) as Record<string, unknown>
    assert.deepEqual([symbol, interval], ['ETH', '1m'])
  })

  it('returns the same candle for the same time, and different ones otherwise', () => {
    const at = Date.UTC(2026, 0, 1, 12, 34, 56)
    assert.deepEqual(candleAt('BTC', '1h', at), candleAt('BTC', '1h', at))
    assert.notEqual(candleAt('BTC', '1h', at).close, candleAt('BTC', '1h', at + 1_000).close)
    assert.notEqual(candleAt('BTC', '1h', at).close, candleAt('ETH', '1h', at).close)
    assert.equal(candleAt('BTC', '1h', at).open, candleAt('BTC', '1h', at + 60_000).open)
  })

  it('streams several candles a second up to the requested number', async () => {
    const response = await post({ symbol: 'BTC', limit: 3 }, { accept: 'text/event-stream' })
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    const events = (await within('the candles', 2_000, response.text())).trim().split('\n\n')
    assert.equal(events.length, 3)
    for (const event of events) assert.match(event, /^id: \d\nevent: candle\ndata: \{"symbol":"BTC",.*\}$/)
  })

  const bad = [
    '{}',
    '{"symbol":"../x"}',
    '{"symbol":7}',
    '{"symbol":"BTC","interval":"2m"}',
    '{"symbol":"BTC","interval":"toString"}'
  ]
  for (const body of [...bad, '{"symbol":"BTC","limit":0}', '[]', 'null', '{', `"${'x'.repeat(100_000)}"`]) {
    it(`rejects ${body.slice(0, 40)} with a JSON error`, async () => {
      const response = await post(body)
      assert.equal(response.status, 400)
      assert.equal(((await response.json()) as { error: string }).error, 'bad_request')
    })
  }

  it('responds at its path only', async () => {
    assert.equal((await fetch(new URL('/other', ticker.url))).status, 404)
  })

  it('closes with a stream still open', async () => {
    const other = await startTicker()
    const response = await fetch(`${other.url}?symbol=BTC`, { headers: { accept: 'text/event-stream' } })
    const reading = assert.rejects(response.text())
    await other.close()
    await reading
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`runs as a process, and ends cleanly on ${signal}`, async () => {
      const alone = await demoAlone('ticker')
      assert.equal((await fetch(`${alone.url}?symbol=BTC`)).status, 200)
      assert.equal(await alone.end(signal), 0)
    })
  }
})
