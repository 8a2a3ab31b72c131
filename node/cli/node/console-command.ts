import type { Command } from 'commander'
import type { AddCommand, Cli } from '../cli.ts'
import { facts, moment, table } from '../terminal/table.ts'

export const addConsole: AddCommand = (to, cli) => {
  const command = to
    .command('console')
    .description('show the address of the console, and a code to sign in a browser')
    .action(async () => {
      const node = await cli.node()
      const { admin } = await node.request('GET /status')
      const { code, expires_at } = await node.request('POST /setup-codes')
      await cli.print({ url: admin, code, expires_at }, () => [
        ...facts([
          ['console', admin],
          ['setup code', code]
        ]),
        `The code signs in one browser, once, until ${new Date(expires_at).toLocaleTimeString()}.`
      ])
    })
  addBrowsers(command, cli)
}

function addBrowsers(command: Command, cli: Cli): void {
  command
    .command('browsers')
    .description('list signed-in browsers')
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
    .description('sign a browser out')
    .argument('<id>', 'browser id from souk console browsers')
    .action(async (id: string) => {
      await (await cli.node()).request('DELETE /sessions/:id', { params: { id } })
      await cli.print({ id, signed_out: true }, () => [])
      cli.terminal.note('The browser is signed out. To sign in again, it needs a new setup code.')
    })
}
