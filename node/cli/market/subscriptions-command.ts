import type { Command } from 'commander'
import type {
  SubscriberView,
  SubscriptionChangeView,
  SubscriptionView
} from '../../admin/subscriptions/subscription-api.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal, wholeNumber } from '../options/number-option.ts'
import { facts, moment, table } from '../terminal/table.ts'

interface ChangeFlags {
  readonly plan?: string
  readonly maxPrice?: string
  readonly maxFee?: string
  readonly dailyCap?: string | false
}

export const addSubscriptions: AddCommand = (to, cli) => {
  const group = to.command('subscriptions').description('what this node has subscribed to')

  group
    .command('list', { isDefault: true })
    .description('list them')
    .action(async () => {
      const view = await (await cli.node()).request('GET /subscriptions')
      await cli.print(view, () => list(view.subscriptions))
      if (view.subscriptions.length === 0) cli.terminal.note('There are none.\nTry: souk subscribe --help')
    })

  group
    .command('show')
    .description('show one of them in full')
    .argument('<id>')
    .action(async (id: string) => {
      const view = await (await cli.node()).request('GET /subscriptions/:id', { params: { id } })
      await cli.print(view, () => show(view))
    })

  group
    .command('change')
    .description('to another plan (a dearer one at once, a cheaper one when the period ends), or other limits')
    .argument('<id>')
    .option('--plan <id>')
    .option('--max-price <usdc>', 'no call ever costs more', decimal)
    .option('--max-fee <usdc>', 'no period ever costs more', decimal)
    .option('--daily-cap <usdc>', 'in one day (UTC), fees included', decimal)
    .option('--no-daily-cap', 'no such limit')
    .action(async (id: string, { plan, maxPrice, maxFee }: ChangeFlags, command: Command) => {
      const cap: string | false | undefined = command.getOptionValue('dailyCap') as string | false | undefined
      const isCapTyped = command.getOptionValueSource('dailyCap') === 'cli'
      const change = await (await cli.node()).request('PATCH /subscriptions/:id', {
        params: { id },
        body: {
          plan,
          max_price: maxPrice,
          max_fee: maxFee,
          ...(isCapTyped ? { daily_cap: cap === false ? null : cap } : {})
        }
      })
      await tell(cli, change)
    })

  group
    .command('cancel')
    .description('end it with its period')
    .argument('<id>')
    .option('--now', 'end it at once; nothing is paid back')
    .action(async (id: string, { now = false }: { now?: boolean }) => {
      await tell(
        cli,
        await (await cli.node()).request('DELETE /subscriptions/:id', {
          params: { id },
          query: { now: now ? 'true' : 'false' }
        })
      )
    })

  for (const [move, description] of MOVES) {
    group
      .command(move)
      .description(description)
      .argument('<id>')
      .action(async (id: string) =>
        tell(cli, await (await cli.node()).request(`POST /subscriptions/:id/${move}`, { params: { id } }))
      )
  }
}

export const addSubscribers: AddCommand = (to, cli) => {
  to.command('subscribers')
    .description('who has subscribed to your APIs')
    .argument('[api]', 'only this one')
    .option('--limit <number>', 'how many', wholeNumber)
    .option('--cursor <cursor>', 'where the page before ended')
    .action(async (api: string | undefined, { limit, cursor }: { limit?: number; cursor?: string }) => {
      const view = await (await cli.node()).request('GET /subscribers', { query: { api, limit, cursor } })
      await cli.print(view, () => sold(view.subscribers))
      if (view.next !== null) cli.terminal.note(`More: --cursor ${view.next}`)
    })
}

const MOVES = [
  ['pause', 'no calls and no bills until it is resumed'],
  ['resume', 'take back a pause, or a cancel whose time has not come'],
  ['renew', 'pay the next period now, where the last one is over; calls do so by themselves']
] as const

async function tell(cli: Cli, change: SubscriptionChangeView): Promise<void> {
  await cli.print(change, () => show(change.subscription))
  if (change.charged !== '0') cli.terminal.note(`Paid ${change.charged} USDC.`)
}

function list(subscriptions: readonly SubscriptionView[]): string[] {
  if (subscriptions.length === 0) return []
  return table(
    ['ID', 'API', 'PLAN', 'STATE', 'USED', 'UNTIL (UTC)'],
    subscriptions.map((each) => [each.id, each.api, each.plan.id, each.state, used(each), moment(each.period_end)])
  )
}

function show(view: SubscriptionView): string[] {
  return facts([
    ['subscription', view.id],
    ['api', view.api],
    ['plan', `${view.plan.id}, ${view.plan.fee} USDC a ${view.plan.period}`],
    ['state', view.state],
    ['period', `${moment(view.period_start)} to ${moment(view.period_end)} UTC`],
    ['calls', used(view)],
    ['max price', `${view.max_price} USDC`],
    ['max fee', `${view.max_fee} USDC`],
    ['daily cap', view.daily_cap === null ? 'none' : `${view.daily_cap} USDC`],
    ...(view.next_plan === null ? [] : [['next plan', view.next_plan] as const])
  ])
}

/** `12 of 1000`: what is known of it since the last call. */
function used({ quota, plan }: SubscriptionView): string {
  const most = plan.included === null ? 'any number' : String(plan.included)
  return `${quota?.used ?? 0} of ${most}`
}

function sold(subscribers: readonly SubscriberView[]): string[] {
  return table(
    ['ID', 'API', 'PLAN', 'STATE', 'NODE', 'SINCE (UTC)', 'UNTIL (UTC)'],
    subscribers.map((each) => [
      each.id,
      each.api,
      each.plan,
      each.state,
      each.peer,
      moment(each.created_at),
      moment(each.period_end)
    ])
  )
}
