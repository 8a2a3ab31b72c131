import type { AddCommand } from '../cli.ts'
import { decimal } from '../options/number-option.ts'
import { moment } from '../terminal/table.ts'

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
    .requiredOption('--plan <id>', 'as souk market show lists it')
    .requiredOption('--max-price <usdc>', 'no call ever costs more; 0 where none may cost anything', decimal)
    .option('--max-fee <usdc>', 'no period ever costs more (default: the fee of now)', decimal)
    .option('--daily-cap <usdc>', 'in one day (UTC), fees included', decimal)
    .option('--no-trial', 'pay from the beginning, where the plan has a trial')
    .action(async (api: string, { plan, maxPrice, maxFee, dailyCap, trial }: SubscribeFlags) => {
      const change = await (await cli.node()).request('POST /subscriptions', {
        body: {
          api,
          plan,
          max_price: maxPrice,
          max_fee: maxFee,
          daily_cap: dailyCap,
          trial
        }
      })
      const { subscription, charged } = change
      await cli.print(change, () => [subscription.id])
      cli.terminal.note(
        `Subscribed to ${subscription.api}, plan ${subscription.plan.id}: ${subscription.state} until ` +
          `${moment(subscription.period_end)} UTC, ${charged} USDC paid.`
      )
    })
}
