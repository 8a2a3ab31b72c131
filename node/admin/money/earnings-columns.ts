import type { ProviderEarningsView } from './money-api.ts'

/** Of a table of earnings that programs read: the command's and the console's are one. */
export const EARNINGS_COLUMNS = [
  'payout',
  'splitter',
  'gross',
  'fee',
  'net',
  'direct',
  'others',
  'captured',
  'claiming',
  'claimed',
  'waiting',
  'paid_provider',
  'paid_treasury',
  'written_off'
] as const satisfies ReadonlyArray<keyof ProviderEarningsView>
