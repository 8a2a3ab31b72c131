import type { Command } from 'commander'
import type { AddCommand, Cli } from '../cli.ts'
import { facts, moment } from '../terminal/table.ts'

export const addConsole: AddCommand = (to, cli) => {
  const command = to
    .command('console')
    .description('open the console in a browser, signed in by a link that works once')
    .option('--no-open', 'only print the link')
    .action(async ({ open }: { open: boolean }) => {
      const node = await cli.node()
      const { admin } = await node.request('GET /status')
      const { code, expires_at } = await node.request('POST /setup-codes')
      // Browsers send no fragment to a server, so no log can contain the code.
      const link = `${admin}/#code=${code}`
      const isOpened = open && cli.canAsk && !cli.json && (await cli.terminal.openInBrowser?.(link)) === true
      await cli.print({ url: admin, code, link, expires_at }, () => [
        ...facts([
          ['console', admin],
          ['setup code', code],
          ['link', link]
        ]),
        `The link or the code signs in one browser, once, until ${moment(expires_at)} UTC.`
      ])
      if (isOpened) cli.terminal.note('The link is open in your browser.')
    })
  addBrowsers(command, cli)
}

function addBrowsers(command: Command, cli: Cli): void {
  command
    .command('browsers')
    .description('list signed-in browsers')
    .action(async () => {
      const view = await (await cli.node()).request('GET /sessions')
      await cli.list(
        view,
        view.sessions,
        [
          { head: 'ID', of: ({ id }) => id },
          { head: 'SINCE (UTC)', of: ({ since }) => moment(since) },
          { head: 'UNTIL (UTC)', of: ({ expires_at: until }) => moment(until) }
        ],
        { what: 'No browser is signed in.', next: 'souk console' }
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
