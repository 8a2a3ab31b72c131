import type { ListingTermsView } from '../../admin/subscriptions/subscription-api.ts'
import { planLines } from './plan-command.ts'
import { moment } from '../terminal/table.ts'

/** What an API costs by the call, its major, and whether it ends, for `facts`. */
export function termsFacts(
  price: string,
  { pay_per_call, major, deprecation }: ListingTermsView
): Array<[string, string]> {
  return [
    ['price', pay_per_call ? `${price} USDC per call` : 'with a subscription only'],
    ...(major === 1 ? [] : [['major', String(major)] satisfies [string, string]]),
    ...(deprecation === null ? [] : ends(deprecation))
  ]
}

/** Its plans as a table, behind an empty line; nothing where there is none. */
export function plansBelow({ plans }: ListingTermsView): string[] {
  return plans.length === 0 ? [] : ['', ...planLines(plans)]
}

function ends({ sunset_at, successor, link }: NonNullable<ListingTermsView['deprecation']>): Array<[string, string]> {
  return [
    ['ends', `${moment(sunset_at)} UTC or later`],
    ...(successor === null ? [] : [['call instead', successor] satisfies [string, string]]),
    ...(link === null ? [] : [['more', link] satisfies [string, string]])
  ]
}
