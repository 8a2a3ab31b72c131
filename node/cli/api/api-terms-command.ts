import type { Command } from 'commander'
import type { AddCommand } from '../cli.ts'
import { decimal, duration, wholeNumber } from '../options/number-option.ts'
import { moment } from '../terminal/table.ts'

interface TermFlags {
  readonly price?: string
  readonly description?: string
  readonly tag?: string[]
  readonly payPerCall?: boolean
  readonly major?: number
}

interface DeprecateFlags {
  readonly sunset?: number
  readonly successor?: string
  readonly link?: string
}

/** Terms of an API that is registered already; its endpoint is not asked. */
export const addApiTerms: AddCommand = (api, cli) => {
  api
    .command('set')
    .description('change its price and other terms; what is not said stays')
    .argument('<name>')
    .option('--price <number>', 'per call; subscribers keep their plan', decimal)
    .option('--description <text>', 'what it is for')
    .option('--tag <tag...>', 'to be found by; all of them')
    .option('--pay-per-call', 'anybody may call and pay by the call')
    .option('--no-pay-per-call', 'only subscribers may call; takes a plan')
    .option('--major <number>', 'raise it where callers have to change something', wholeNumber)
    .action(async (name: string, flags: TermFlags, command: Command) => {
      const isTyped = command.getOptionValueSource('payPerCall') === 'cli'
      const view = await (await cli.node()).request('PATCH /apis/:name', {
        params: { name },
        body: {
          price: flags.price,
          description: flags.description,
          tags: flags.tag,
          major: flags.major,
          ...(isTyped ? { pay_per_call: flags.payPerCall } : {})
        }
      })
      await cli.print(view, () => [view.id])
      cli.terminal.note(`${view.name} is at revision ${view.revision}: ${view.price} USDC per call.`)
    })

  api
    .command('deprecate')
    .description('give notice that it will end; it is called as before, and every response says so')
    .argument('<name>')
    .option('--sunset <duration>', 'when it may be retired, like 60d; at least 30d (default)', duration)
    .option('--successor <api>', 'name@provider of what to call instead')
    .option('--link <url>', 'https page that says more')
    .action(async (name: string, { sunset, successor, link }: DeprecateFlags) => {
      const sunsetAt = sunset === undefined ? undefined : Date.now() + sunset
      const view = await (await cli.node()).request('POST /apis/:name/deprecate', {
        params: { name },
        body: { sunset_at: sunsetAt, successor, link }
      })
      await cli.print(view, () => [])
      const until = sunsetAt === undefined ? '' : ` It may be retired on ${moment(sunsetAt)} UTC.`
      cli.terminal.note(`${view.id} is deprecated.${until}`)
    })

  api
    .command('retire')
    .description('end it for good, after its sunset; its name is held')
    .argument('<name>')
    .action(async (name: string) => {
      const view = await (await cli.node()).request('POST /apis/:name/retire', { params: { name } })
      await cli.print(view, () => [])
      cli.terminal.note(`${view.id} is retired: calls are answered 410.`)
    })
}
