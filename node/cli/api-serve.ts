import { tellRegistered } from './api-register.ts'
import type { AddCommand } from './cli.ts'
import { wholeNumber } from './number-option.ts'

interface ServeFlags {
  readonly endpoint: string
  readonly timeoutMs?: number
}

export const addApiServe: AddCommand = (to, cli) => {
  to.command('serve')
    .description('serve another provider’s published API from here, too; that provider delegates to this node first')
    .argument('<name@provider>', 'the API, with its provider')
    .requiredOption('--endpoint <url>', 'the upstream on this side')
    .option('--timeout-ms <ms>', 'longest answer of the endpoint', wholeNumber)
    .action(async (api: string, flags: ServeFlags) => {
      const view = await (await cli.node()).serve({ api, endpoint: flags.endpoint, timeout_ms: flags.timeoutMs })
      await tellRegistered(cli, view)
    })
}
