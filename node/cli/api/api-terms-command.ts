import type { Command } from 'commander'
import { YES } from '../terminal/confirm.ts'
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

/** Commands for the terms of a registered API. They send no request to its endpoint. */
export const addApiTerms: AddCommand = (api, cli) => {
  api
    .command('set')
    .description('change price and other terms; omitted options keep their values')
    .argument('<name>')
    .option('--price <number>', 'price per call; subscribers keep their plan', decimal)
    .option('--description <text>', 'purpose of the API')
    .option('--tag <tag...>', 'tags for searches; replaces all tags')
    .option('--pay-per-call', 'allow calls without a subscription, paid per call')
    .option('--no-pay-per-call', 'only subscribers may call; needs a plan')
    .option('--major <number>', 'major version; raise it for changes that break callers', wholeNumber)
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
    .description('announce the end of an API; calls still work, and each response carries the notice')
    .argument('<name>')
    .option('--sunset <duration>', 'time until it may be retired, like 60d; at least 30d (default)', duration)
    .option('--successor <api>', 'name@provider of the replacement')
    .option('--link <url>', 'https URL of a page with details')
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
    .description('end an API for good, after its sunset; its name stays reserved')
    .argument('<name>')
    .option(...YES)
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const consequence = 'Calls get status 410 from then on. It cannot be published again.'
      const node = await cli.node()
      await node.request('GET /apis/:name', { params: { name } })
      if (!(await cli.confirm({ yes, question: `Retire ${name} for good?`, consequence }))) return
      const view = await node.request('POST /apis/:name/retire', { params: { name } })
      await cli.print(view, () => [])
      cli.terminal.note(`${view.id} is retired. Calls get status 410.`)
    })
}
