import { tellRegistered } from './api-register.ts'
import type { AddCommand } from './cli.ts'
import { addGraphqlOptions, type GraphqlFlags, graphqlInputOf } from './graphql-options.ts'
import { wholeNumber } from './number-option.ts'

interface ServeFlags extends GraphqlFlags {
  readonly endpoint: string
  readonly timeoutMs?: number
}

export const addApiServe: AddCommand = (to, cli) => {
  const command = to
    .command('serve')
    .description('serve another provider’s published API from here, too; that provider delegates to this node first')
    .argument('<name@provider>', 'the API, with its provider')
    .requiredOption('--endpoint <url>', 'the upstream on this side')
    .option('--timeout-ms <ms>', 'longest answer of the endpoint', wholeNumber)
  addGraphqlOptions(command).action(async (api: string, flags: ServeFlags) => {
    const { endpoint, timeoutMs } = flags
    const graphql = await graphqlInputOf(flags)
    const view = await (await cli.node()).serve({ api, endpoint, timeout_ms: timeoutMs, ...graphql })
    await tellRegistered(cli, view)
  })
}
