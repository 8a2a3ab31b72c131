import type { Command } from 'commander'
import type { AddCommand, Cli } from '../cli.ts'
import { facts, moment, table } from '../terminal/table.ts'

export const addConsole: AddCommand = (to, cli) => {
  const command = to
    .command('console')
    .description('how to open the console in a browser: its address, and a code that lets one in')
    .action(async () => {
      const node = await cli.node()
      const { admin } = await node.request('GET /status')
      const { code, expires_at } = await node.request('POST /setup-codes')
      await cli.print({ url: admin, code, expires_at }, () => [
        ...facts([
          ['console', admin],
          ['setup code', code]
        ]),
        `It lets one browser in, once, until ${new Date(expires_at).toLocaleTimeString()}.`
      ])
    })
  addBrowsers(command, cli)
}

function addBrowsers(command: Command, cli: Cli): void {
  command
    .command('browsers')
    .description('those that were let in')
    .action(async () => {
      const view = await (await cli.node()).request('GET /sessions')
      await cli.print(view, () =>
        table(
          ['ID', 'SINCE (UTC)', 'UNTIL (UTC)'],
          view.sessions.map(({ id, since, expires_at }) => [id, moment(since), moment(expires_at)])
        )
      )
    })

  command
    .command('sign-out')
    .description('show a browser out')
    .argument('<id>', 'as in souk console browsers')
    .action(async (id: string) => {
      await (await cli.node()).request('DELETE /sessions/:id', { params: { id } })
      await cli.print({ id, signed_out: true }, () => [])
      cli.terminal.note('That browser needs a new setup code.')
    })
}
