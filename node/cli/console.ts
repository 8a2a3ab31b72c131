import type { AddCommand } from './cli.ts'
import { facts } from './table.ts'

export const addConsole: AddCommand = (to, cli) => {
  to.command('console')
    .description('how to open the console in a browser: its address, and a code that lets one in')
    .action(async () => {
      const node = await cli.node()
      const { admin } = await node.status()
      const { code, expires_at } = await node.setupCode()
      await cli.print({ url: admin, code, expires_at }, () => [
        ...facts([
          ['console', admin],
          ['setup code', code]
        ]),
        `It lets one browser in, once, until ${new Date(expires_at).toLocaleTimeString()}.`
      ])
    })
}
