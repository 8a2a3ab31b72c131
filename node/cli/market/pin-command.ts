import type { AddCommand } from '../cli.ts'
import { UsageError } from '../terminal/usage-error.ts'

export const addPin: AddCommand = (to, cli) => {
  to.command('pin')
    .description('let a bare name mean one provider on this node, whoever else claims it')
    .argument('<name@provider>', 'the API, with its provider')
    .action(async (id: string) => {
      const [name = '', provider = '', ...more] = id.split('@')
      if (name === '' || provider === '' || more.length > 0) {
        throw new UsageError(
          `"${id}" names no provider.`,
          'souk pin <name>@<provider id>; souk search --json shows both'
        )
      }
      await (await cli.node()).request('PUT /pins/:name', { params: { name }, body: { provider } })
      await cli.print({ name, provider }, () => [])
      cli.terminal.note(`${name} now means ${id}.`)
    })
}
