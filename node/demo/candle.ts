/** Candle intervals by their usual names, in milliseconds. */
export const INTERVALS: Readonly<Record<string, number>> = {
  '1s': 1_000,
  '5s': 5_000,
  '1m': 60_000,
  '5m': 300_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '4h': 14_400_000,
  '1d': 86_400_000
}

export interface Candle {
  readonly symbol: string
  readonly interval: string
  /** Start of the interval, ISO 8601. */
  readonly time: string
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  readonly note: string
}

/** Time scales of the simulated market’s price changes, in milliseconds. */
const SCALES = [250, 2_000, 15_000, 120_000, 900_000, 7_200_000, 86_400_000] as const
/** Relative price change on the scale of one second. Other scales follow the square root of time, like a random walk. */
const MOVE_PER_SECOND = 0.0002
/** Prices sampled per candle. */
const SAMPLES = 24

/** The candle at `nowMs`, up to that moment. Deterministic: the same arguments always give the same candle. */
export function candleAt(symbol: string, interval: string, nowMs: number): Candle {
  const lengthMs = INTERVALS[interval] ?? 60_000
  const startMs = nowMs - (nowMs % lengthMs)
  const prices = Array.from({ length: SAMPLES + 1 }, (_, i) =>
    priceAt(symbol, startMs + ((nowMs - startMs) * i) / SAMPLES)
  )
  const open = prices[0] ?? 0
  const traded = 500 + 1_500 * noise(`${symbol}:volume`, startMs / lengthMs)
  return {
    symbol,
    interval,
    time: new Date(startMs).toISOString(),
    open: rounded(open),
    high: rounded(Math.max(...prices)),
    low: rounded(Math.min(...prices)),
    close: rounded(prices.at(-1) ?? open),
    volume: rounded((traded * (nowMs - startMs + 1)) / 1_000 / Math.sqrt(open)),
    note: 'play data, not a market price'
  }
}

/** A stateless walk: each scale adds its own noise, so the price of any moment is computed directly. */
function priceAt(symbol: string, atMs: number): number {
  const base = 10 ** (1 + 3 * noise(symbol, 0))
  let drift = 0
  for (const scale of SCALES) {
    const index = Math.floor(atMs / scale)
    const part = atMs / scale - index
    const smooth = part * part * (3 - 2 * part)
    const from = noise(`${symbol}:${scale}`, index)
    const to = noise(`${symbol}:${scale}`, index + 1)
    drift += (from + (to - from) * smooth - 0.5) * MOVE_PER_SECOND * Math.sqrt(scale / 1_000)
  }
  return base * Math.exp(drift)
}

/** A number in [0, 1) from a name and an index: FNV-1a, then the finalizer of MurmurHash3. */
function noise(name: string, index: number): number {
  let hash = 0x811c9dc5
  for (const char of `${name}:${index}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

const rounded = (value: number): number => Number(value.toPrecision(7))
