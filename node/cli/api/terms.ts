import type { ListingTermsView } from '../../admin/subscriptions/subscription-api.ts'
import { PLAN_COLUMNS } from './plan-command.ts'
import { type Layout, moment, table } from '../terminal/table.ts'

/** Rows for `facts`: price per call, major version and deprecation. */
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

/** The plans as a table, after an empty line. Empty without plans. */
export function plansBelow({ plans }: ListingTermsView, layout: Layout): string[] {
  return plans.length === 0 ? [] : ['', ...table(plans, PLAN_COLUMNS, layout)]
}

function ends({ sunset_at, successor, link }: NonNullable<ListingTermsView['deprecation']>): Array<[string, string]> {
  return [
    ['ends', `${moment(sunset_at)} UTC or later`],
    ...(successor === null ? [] : [['call instead', successor] satisfies [string, string]]),
    ...(link === null ? [] : [['more', link] satisfies [string, string]])
  ]
}
