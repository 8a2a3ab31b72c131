import type { AddCommand } from '../cli.ts'
import { UsageError } from '../terminal/usage-error.ts'

export const addPin: AddCommand = (to, cli) => {
  to.command('pin')
    .description('bind a bare name to one provider on this node')
    .argument('<name@provider>', 'the API, with its provider')
    .action(async (id: string) => {
      const [name = '', provider = '', ...more] = id.split('@')
      if (name === '' || provider === '' || more.length > 0) {
        throw new UsageError(`"${id}" has no provider.`, 'souk pin <name>@<provider id>; souk search --json shows both')
      }
      await (await cli.node()).request('PUT /pins/:name', { params: { name }, body: { provider } })
      await cli.print({ name, provider }, () => [])
      cli.terminal.note(`${name} now means ${id}.`)
    })
}
