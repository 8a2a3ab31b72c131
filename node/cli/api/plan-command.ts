import { InvalidArgumentError } from 'commander'
import type { PlanInput, PlansView, PlanView } from '../../admin/subscriptions/subscription-api.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal, wholeNumber } from '../options/number-option.ts'
import { addRateOptions, type RateFlags, rateInputOf, rateText } from '../options/rate-option.ts'
import type { Column } from '../terminal/table.ts'

interface SetFlags extends RateFlags {
  readonly name?: string
  readonly description?: string
  readonly fee?: string
  readonly period?: PlanInput['period']
  readonly trialDays?: number
  readonly included?: number
  readonly overage?: PlanInput['overage']
  readonly inFlight?: number
}

export const addPlan: AddCommand = (to, cli) => {
  const plan = to.command('plan').description('subscription plans of your APIs')

  const set = plan
    .command('set')
    .description('add or change a plan; subscribers keep the old terms for 14 days')
    .argument('<api>', 'name of one of your APIs')
    .argument('<plan>', 'a-z, 0-9 and "-"')
    .option('--name <text>', 'display name')
    .option('--description <text>')
    .option('--fee <usdc>', 'fee per period, in advance (default: 0)', decimal)
    .option('--period <period>', 'day, week, month or year (default: month)', period)
    .option('--trial-days <days>', 'free days before the first fee', wholeNumber)
    .option('--included <calls>', 'included calls per period (default: no limit)', wholeNumber)
    .option(
      '--overage <tiers>',
      'price of calls above --included: 0.001, or 1000:0.001,5000:0.0008,*:0.0005 (default: refuse them)',
      tiers
    )
    .option('--in-flight <calls>', 'concurrent calls per consumer (default: limit of the API)', wholeNumber)
  addRateOptions(set, 'rate limit per consumer').action(
    async (api: string, id: string, { trialDays, inFlight, rate, burst, ...flags }: SetFlags) => {
      const limits = {
        rate_limit: rateInputOf({ ...(rate && { rate }), ...(burst === undefined ? {} : { burst }) }),
        in_flight_max: inFlight
      }
      const view = await (await cli.node()).request('PUT /apis/:name/plans/:plan', {
        params: { name: api, plan: id },
        body: { ...flags, ...limits, trial_days: trialDays }
      })
      await tell(cli, api, view)
    }
  )

  plan
    .command('list')
    .description('list the plans of one of your APIs')
    .argument('<api>')
    .action(async (api: string) => {
      const view = await (await cli.node()).request('GET /apis/:name/plans', { params: { name: api } })
      await tell(cli, api, view)
    })

  plan
    .command('rm')
    .description('close a plan to new subscribers; current subscribers keep it for 14 days')
    .argument('<api>')
    .argument('<plan>')
    .action(async (api: string, id: string) => {
      const view = await (await cli.node()).request('DELETE /apis/:name/plans/:plan', {
        params: { name: api, plan: id }
      })
      await tell(cli, api, view)
    })
}

async function tell(cli: Cli, api: string, view: PlansView): Promise<void> {
  await cli.list(view, view.plans, PLAN_COLUMNS, {
    what: `${api} has no plan. Consumers pay per call.`,
    next: `souk plan set ${api} basic --fee 5 --included 1000`
  })
}

export const PLAN_COLUMNS: ReadonlyArray<Column<PlanView>> = [
  { head: 'PLAN', of: ({ closed, id }) => (closed ? `${id} (closed)` : id), least: 12 },
  { head: 'FEE', of: ({ fee }) => `${fee} USDC` },
  { head: 'PERIOD', of: ({ period }) => period },
  { head: 'TRIAL', of: ({ trial_days: days }) => (days === 0 ? '-' : `${days} d`) },
  { head: 'INCLUDED', of: ({ included }) => (included === null ? 'no limit' : String(included)) },
  { head: 'BEYOND', of: beyond, least: 8 },
  { head: 'LIMITS', of: limits, least: 8 },
  { head: 'NAME', of: ({ name }) => name, isExtra: true }
]

/** For example `100/1m, 20 concurrent`. */
function limits({ rate_limit, in_flight_max }: PlanView): string {
  const all = [
    ...(rate_limit === null ? [] : [rateText(rate_limit)]),
    ...(in_flight_max === null ? [] : [`${in_flight_max} concurrent`])
  ]
  return all.length === 0 ? '-' : all.join(', ')
}

/** The format of `--overage`, such as `1000:0.001, *:0.0005`. */
function beyond({ included, overage }: PlanView): string {
  if (overage.length === 0) return included === null ? '-' : 'refused'
  return overage.map(({ up_to, price }) => `${up_to ?? '*'}:${price}`).join(', ')
}

function period(typed: string): NonNullable<PlanInput['period']> {
  if (typed === 'day' || typed === 'week' || typed === 'month' || typed === 'year') return typed
  throw new InvalidArgumentError('Give day, week, month or year.')
}

function tiers(typed: string): NonNullable<PlanInput['overage']> {
  return typed.split(',').map((tier) => {
    const [bound = '', price = bound] = tier.trim().split(':')
    const isEndless = bound === '*' || !tier.includes(':')
    return { ...(isEndless ? {} : { up_to: wholeNumber(bound) }), price: decimal(price) }
  })
}
