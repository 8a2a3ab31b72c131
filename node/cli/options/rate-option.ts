import { InvalidArgumentError, type Command } from 'commander'
import type { RateLimitInput, RateLimitView } from '../../admin/subscriptions/rate-api.ts'
import { UsageError } from '../terminal/usage-error.ts'
import { wholeNumber } from './number-option.ts'

export interface RateFlags {
  readonly rate?: Omit<RateLimitInput, 'burst'>
  readonly burst?: number
}

const UNITS: ReadonlyArray<readonly [unit: string, ms: number]> = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1]
]

export function addRateOptions(command: Command, whose: string, parse: (typed: string) => unknown = rate): Command {
  return command
    .option('--rate <calls/time>', `${whose}, like 100/1m or 10/s (default: no limit)`, parse)
    .option('--burst <calls>', 'with --rate: calls that may arrive at once (default: all)', wholeNumber)
}

/** @throws UsageError if there is a burst without a rate */
export function rateInputOf({ rate: limit, burst }: RateFlags): RateLimitInput | undefined {
  if (limit === undefined && burst !== undefined) throw new UsageError('--burst needs --rate.', '--rate, like 100/1m')
  return limit && { ...limit, ...(burst === undefined ? {} : { burst }) }
}

export function rateText(limit: RateLimitView | null): string {
  if (limit === null) return '-'
  const { calls, per_ms: ms, burst } = limit
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['ms', 1]
  return `${calls}/${ms / size}${unit}${burst === calls ? '' : `, ${burst} at once`}`
}

export function rate(typed: string): Omit<RateLimitInput, 'burst'> {
  const match = /^([1-9]\d{0,5})\/([1-9]\d{0,7})?(ms|[smhd])$/.exec(typed)
  const unit = UNITS.find(([name]) => name === match?.[3])
  if (match === null || unit === undefined) throw new InvalidArgumentError('Give a rate like 100/1m or 10/s.')
  return { calls: Number(match[1]), per_ms: Number(match[2] ?? 1) * unit[1] }
}
