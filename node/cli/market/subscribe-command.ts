import type { AddCommand } from '../cli.ts'
import { decimal } from '../options/number-option.ts'
import { moment } from '../terminal/table.ts'
import { whileDepositCounts } from './deposit-note.ts'

interface SubscribeFlags {
  readonly plan: string
  readonly maxPrice: string
  readonly maxFee?: string
  readonly dailyCap?: string
  readonly trial: boolean
}

export const addSubscribe: AddCommand = (to, cli) => {
  to.command('subscribe')
    .description('subscribe to a plan of an API; this node’s keys then call it on the plan’s terms')
    .argument('<api>', 'name or name@provider')
    .requiredOption('--plan <id>', 'plan id from souk market show')
    .requiredOption('--max-price <usdc>', 'highest price of a call; 0 allows only free calls', decimal)
    .option('--max-fee <usdc>', 'highest fee of a period (default: the current fee)', decimal)
    .option('--daily-cap <usdc>', 'spending limit per day (UTC), fees included', decimal)
    .option('--no-trial', 'skip the trial of the plan and pay at once')
    .action(async (api: string, { plan, maxPrice, maxFee, dailyCap, trial }: SubscribeFlags) => {
      const node = await cli.node()
      const paying = node.request('POST /subscriptions', {
        body: {
          api,
          plan,
          max_price: maxPrice,
          max_fee: maxFee,
          daily_cap: dailyCap,
          trial
        }
      })
      const change = await whileDepositCounts(cli, paying)
      const { subscription, charged } = change
      await cli.print(change, () => [subscription.id])
      cli.terminal.note(
        `Subscribed to ${subscription.api}, plan ${subscription.plan.id}: ${subscription.state} until ` +
          `${moment(subscription.period_end)} UTC, ${charged} USDC paid.`
      )
    })
}
