import { InvalidArgumentError } from 'commander'
import type { PlanInput, PlansView, PlanView } from '../../admin/subscriptions/subscription-api.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal, wholeNumber, wholeNumberOr0 } from '../options/number-option.ts'
import { addRateOptions, rate, type RateFlags, rateInputOf, rateText } from '../options/rate-option.ts'
import type { Column } from '../terminal/table.ts'

/** Restores the default of an option. Commander replaces a parsed null by an empty text. */
const DEFAULT = Symbol('default')

interface SetFlags {
  readonly name?: string
  readonly description?: string
  readonly fee?: string
  readonly period?: PlanInput['period']
  readonly trialDays?: number
  readonly included?: number | typeof DEFAULT
  readonly overage?: PlanInput['overage']
  readonly inFlight?: number | typeof DEFAULT
  readonly rate?: RateFlags['rate'] | typeof DEFAULT
  readonly burst?: number
}

export const addPlan: AddCommand = (to, cli) => {
  const plan = to.command('plan').description('subscription plans of your APIs')

  const set = plan
    .command('set')
    .description(
      'add a plan, or change one: options that you leave out keep their values; subscribers keep the old terms for 14 days'
    )
    .argument('<api>', 'name of one of your APIs')
    .argument('<plan>', 'a-z, 0-9 and "-"')
    .option('--name <text>', 'display name')
    .option('--description <text>')
    .option('--fee <usdc>', 'fee per period, in advance (default: 0)', decimal)
    .option('--period <period>', 'day, week, month or year (default: month)', period)
    .option('--trial-days <days>', 'free days before the first fee', wholeNumberOr0)
    .option(
      '--included <calls>',
      'included calls per period, or unlimited (default: unlimited)',
      orDefault('unlimited', wholeNumberOr0)
    )
    .option(
      '--overage <tiers>',
      'price of calls above --included: 0.001, or 1000:0.001,5000:0.0008,*:0.0005; or none (default: none, refuse them)',
      tiers
    )
    .option(
      '--in-flight <calls>',
      'concurrent calls per consumer, or none (default: none, limit of the API)',
      orDefault('none', wholeNumber)
    )
  addRateOptions(set, 'rate limit per consumer, or none', orDefault('none', rate)).action(
    async (api: string, id: string, { trialDays, included, inFlight, rate, burst, ...flags }: SetFlags) => {
      const bursting = burst === undefined ? {} : { burst }
      const body = {
        ...flags,
        trial_days: trialDays,
        included: orNull(included),
        in_flight_max: orNull(inFlight),
        rate_limit: rate === DEFAULT ? null : rateInputOf({ ...bursting, ...(rate && { rate }) })
      }
      const node = await cli.node()
      const { plans } = await node.request('GET /apis/:name/plans', { params: { name: api } })
      const isChange = plans.some((plan) => plan.id === id && !plan.closed)
      const params = { name: api, plan: id }
      await tell(
        cli,
        api,
        await node.request(`${isChange ? 'PATCH' : 'PUT'} /apis/:name/plans/:plan`, { params, body })
      )
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
  if (typed === 'none') return []
  return typed.split(',').map((tier) => {
    const [bound = '', price = bound] = tier.trim().split(':')
    const isEndless = bound === '*' || !tier.includes(':')
    return { ...(isEndless ? {} : { up_to: wholeNumber(bound) }), price: decimal(price) }
  })
}

function orDefault<T>(word: string, parse: (typed: string) => T): (typed: string) => T | typeof DEFAULT {
  return (typed) => (typed === word ? DEFAULT : parse(typed))
}

function orNull<T>(value: T | typeof DEFAULT): T | null {
  return value === DEFAULT ? null : value
}
