import type { Command } from 'commander'
import type { AdminClient } from '../../admin/client.ts'
import type {
  SubscriberView,
  SubscriptionChangeView,
  SubscriptionView
} from '../../admin/subscriptions/subscription-api.ts'
import { YES } from '../terminal/confirm.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { decimal, wholeNumber } from '../options/number-option.ts'
import { fullId, shortApi, shortId } from '../terminal/short-id.ts'
import { type Column, day, facts, moment } from '../terminal/table.ts'
import { whileDepositCounts } from './deposit-note.ts'

interface ChangeFlags {
  readonly plan?: string
  readonly maxPrice?: string
  readonly maxFee?: string
  readonly dailyCap?: string | false
}

export const addSubscriptions: AddCommand = (to, cli) => {
  const group = to.command('subscriptions').description('subscriptions of this node')

  group
    .command('list', { isDefault: true })
    .description('list the subscriptions')
    .action(async () => {
      const view = await (await cli.node()).request('GET /subscriptions')
      await cli.list(view, view.subscriptions, COLUMNS, {
        what: 'This node has no subscription.',
        next: 'souk market show <api>, to see its plans; then souk subscribe <api> --plan <plan> --max-price <usdc>'
      })
    })

  group
    .command('show')
    .description('show one subscription in full')
    .argument('<id>')
    .action(async (id: string) => {
      const [node, params] = await named(cli, id)
      const view = await node.request('GET /subscriptions/:id', { params })
      await cli.print(view, () => show(view))
    })

  group
    .command('change')
    .description(
      'change the limits, or the plan: to a more expensive plan at once, to a cheaper plan when the period ends'
    )
    .argument('<id>')
    .option('--plan <id>')
    .option('--max-price <usdc>', 'highest price of a call', decimal)
    .option('--max-fee <usdc>', 'highest fee of a period', decimal)
    .option('--daily-cap <usdc>', 'spending limit per day (UTC), fees included', decimal)
    .option('--no-daily-cap', 'remove the daily limit')
    .action(async (id: string, { plan, maxPrice, maxFee }: ChangeFlags, command: Command) => {
      const cap: string | false | undefined = command.getOptionValue('dailyCap') as string | false | undefined
      const isCapTyped = command.getOptionValueSource('dailyCap') === 'cli'
      const [node, params] = await named(cli, id)
      const paying = node.request('PATCH /subscriptions/:id', {
        params,
        body: {
          plan,
          max_price: maxPrice,
          max_fee: maxFee,
          ...(isCapTyped ? { daily_cap: cap === false ? null : cap } : {})
        }
      })
      await tell(cli, await whileDepositCounts(cli, paying))
    })

  group
    .command('cancel')
    .description('cancel at the end of the period')
    .argument('<id>')
    .option('--now', 'cancel at once, without a refund')
    .option(...YES)
    .action(async (id: string, { now = false, yes }: { now?: boolean; yes?: boolean }) => {
      const [node, params] = await named(cli, id)
      const consequence = 'The rest of the period is lost, without a refund.'
      if (now && !(await cli.confirm({ yes, question: `Cancel ${params.id} at once?`, consequence }))) return
      const query = { now: now ? 'true' : 'false' } as const
      await tell(cli, await node.request('DELETE /subscriptions/:id', { params, query }))
    })

  for (const [move, description] of MOVES) {
    group
      .command(move)
      .description(description)
      .argument('<id>')
      .action(async (id: string) => {
        const [node, params] = await named(cli, id)
        const paying = node.request(`POST /subscriptions/:id/${move}`, { params })
        await tell(cli, await whileDepositCounts(cli, paying))
      })
  }
}

export const addSubscribers: AddCommand = (to, cli) => {
  to.command('subscribers')
    .description('list subscribers of your APIs')
    .argument('[api]', 'only subscribers of this API')
    .option('--limit <number>', 'maximum number of results', wholeNumber)
    .option('--cursor <cursor>', 'cursor from the previous page')
    .action(async (api: string | undefined, { limit, cursor }: { limit?: number; cursor?: string }) => {
      const view = await (await cli.node()).request('GET /subscribers', { query: { api, limit, cursor } })
      await cli.list(view, view.subscribers, SUBSCRIBERS, {
        what: api === undefined ? 'No API of this node has subscribers.' : `${api} has no subscribers.`,
        next: 'souk plan list <api>, to see the plans on sale'
      })
      if (view.next !== null) cli.terminal.note(`More: --cursor ${view.next}`)
    })
}

const MOVES = [
  ['pause', 'stop calls and fees until the subscription is resumed'],
  ['resume', 'end a pause, or revoke a cancellation that is not due yet'],
  ['renew', 'pay the next period now, if the last one is over; calls do this automatically']
] as const

/** Accepts the short id of a table. */
async function named(cli: Cli, id: string): Promise<[AdminClient, { id: string }]> {
  const node = await cli.node()
  if (id.length === ID_CHARS) return [node, { id }]
  const { subscriptions } = await node.request('GET /subscriptions')
  const ids = subscriptions.map((each) => each.id)
  return [node, { id: fullId(id, ids, 'subscription', 'souk subscriptions list') }]
}

/** A UUID. */
const ID_CHARS = 36

async function tell(cli: Cli, change: SubscriptionChangeView): Promise<void> {
  await cli.print(change, () => show(change.subscription))
  if (change.charged !== '0') cli.terminal.note(`Paid ${change.charged} USDC.`)
}

/** The end of the period; none if the subscription has ended before it. */
const UNTIL: Column<Pick<SubscriptionView, 'state' | 'period_end'>> = {
  head: 'UNTIL (UTC)',
  of: ({ state, period_end: end }) => moment(state === 'canceled' ? null : end),
  short: ({ state, period_end: end }) => (state === 'canceled' ? '-' : day(end))
}

const COLUMNS: ReadonlyArray<Column<SubscriptionView>> = [
  { head: 'ID', of: ({ id }) => id, short: ({ id }) => shortId(id) },
  { head: 'API', of: ({ api }) => api, short: ({ api }) => shortApi(api), least: 12 },
  { head: 'PLAN', of: ({ plan }) => plan.id, least: 8 },
  { head: 'STATE', of: ({ state }) => state },
  { head: 'USED', of: used },
  UNTIL
]

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

/** Usage as of the last call, such as `12 of 1000`. */
function used({ quota, plan }: SubscriptionView): string {
  const most = plan.included === null ? 'no limit' : String(plan.included)
  return `${quota?.used ?? 0} of ${most}`
}

const SUBSCRIBERS: ReadonlyArray<Column<SubscriberView>> = [
  { head: 'ID', of: ({ id }) => id, short: ({ id }) => shortId(id) },
  { head: 'API', of: ({ api }) => api, short: ({ api }) => shortApi(api), least: 12 },
  { head: 'PLAN', of: ({ plan }) => plan, least: 8 },
  { head: 'STATE', of: ({ state }) => state },
  { head: 'NODE', of: ({ peer }) => peer, short: ({ peer }) => shortId(peer) },
  { head: 'SINCE (UTC)', of: ({ created_at: at }) => moment(at), isExtra: true },
  UNTIL
]
