import type { IncomingMessage, ServerResponse } from 'node:http'
import { INTERVALS, candleAt } from './candle.ts'
import { type DemoOptions, type DemoServer, bodyText, runAlone, sendJson, serveDemo } from './demo-server.ts'

/** Interval between two events of a stream. */
const EVENT_MS = 250
const SYMBOL = /^[A-Z0-9]{1,10}(?:[-/][A-Z0-9]{1,10})?$/

interface Wanted {
  readonly symbol: string
  readonly interval: string
  /** Number of events in a stream; without a limit the stream does not end. */
  readonly limit: number
}

/**
 * The demo’s REST API: candles of a simulated market, by POST of JSON or by GET, and as server-sent events with `Accept:
 * text/event-stream`. Takes `symbol`, `interval` (default `1m`) and `limit` (number of events).
 */
export function startTicker(options: DemoOptions = {}): Promise<DemoServer> {
  return serveDemo(
    '/ticker',
    async (request, response, url) => {
      const fields = await fieldsOf(request, url)
      const wanted = wantedIn(fields)
      if (typeof wanted === 'string') sendJson(response, 400, { error: 'bad_request', message: wanted })
      else if (request.headers.accept?.includes('text/event-stream') === true) stream(response, wanted)
      else sendJson(response, 200, candleAt(wanted.symbol, wanted.interval, Date.now()))
    },
    options
  )
}

/** The request’s fields, or an error text. */
async function fieldsOf(request: IncomingMessage, url: URL): Promise<Record<string, unknown> | string> {
  if (request.method === 'GET') return Object.fromEntries(url.searchParams)
  if (request.method !== 'POST') return 'Use GET or POST.'
  const text = await bodyText(request)
  if (text === undefined) return 'The body is too large.'
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? { ...body } : 'The body must be a JSON object.'
  } catch {
    return 'The body is not JSON.'
  }
}

function wantedIn(fields: Record<string, unknown> | string): Wanted | string {
  if (typeof fields === 'string') return fields
  const { symbol, interval = '1m', limit = Number.POSITIVE_INFINITY } = fields
  const name = typeof symbol === 'string' ? symbol.toUpperCase() : ''
  if (!SYMBOL.test(name)) return 'symbol must be a ticker symbol such as BTC-USD.'
  if (typeof interval !== 'string' || !Object.hasOwn(INTERVALS, interval)) {
    return `interval must be one of ${Object.keys(INTERVALS).join(', ')}.`
  }
  const count = Number(limit)
  return count >= 1 ? { symbol: name, interval, limit: count } : 'limit must be a positive number.'
}

function stream(response: ServerResponse, { symbol, interval, limit }: Wanted): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  let sent = 0
  const send = () => {
    // A slow reader misses candles instead of filling our memory.
    if (response.writableNeedDrain) return
    sent++
    response.write(`id: ${sent}\nevent: candle\ndata: ${JSON.stringify(candleAt(symbol, interval, Date.now()))}\n\n`)
    if (sent >= limit) response.end()
  }
  const timer = setInterval(send, EVENT_MS)
  response.on('close', () => clearInterval(timer))
  response.on('finish', () => clearInterval(timer))
  send()
}

if (import.meta.main) await runAlone(startTicker)
