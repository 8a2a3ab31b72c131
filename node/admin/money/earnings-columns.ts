import type { ProviderEarningsView } from './money-api.ts'

/** Columns of the earnings CSV. `souk earnings` and the console share them, because programs read both. */
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
