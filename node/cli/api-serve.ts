import { tellRegistered } from './api-register.ts'
import type { AddCommand } from './cli.ts'
import { addGraphqlOptions, type GraphqlFlags, graphqlInputOf } from './graphql-options.ts'
import { addUpstreamOptions, type UpstreamFlags, upstreamInputOf } from './upstream-options.ts'

export const addApiServe: AddCommand = (to, cli) => {
  const command = to
    .command('serve')
    .description('serve another provider’s published API from here, too; that provider delegates to this node first')
    .argument('<name@provider>', 'the API, with its provider')
    .requiredOption('--endpoint <url>', 'the upstream on this side')
  addGraphqlOptions(addUpstreamOptions(command)).action(async (api: string, flags: UpstreamFlags & GraphqlFlags) => {
    const input = { api, ...(await upstreamInputOf(flags)), ...(await graphqlInputOf(flags)) }
    const view = await (await cli.node()).serve(input)
    await tellRegistered(cli, view)
  })
}
