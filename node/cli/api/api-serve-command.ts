import { tellRegistered } from './register.ts'
import type { AddCommand } from '../cli.ts'
import { addGraphqlOptions, type GraphqlFlags, graphqlInputOf } from '../options/graphql-options.ts'
import { addUpstreamOptions, type UpstreamFlags, upstreamInputOf } from '../options/upstream-options.ts'
import { addWsdlOptions, type WsdlFlags, wsdlInputOf } from '../options/wsdl-options.ts'

export const addApiServe: AddCommand = (to, cli) => {
  const command = to
    .command('serve')
    .description('serve another provider’s API from this node too; the provider must delegate to this node first')
    .argument('<name@provider>', 'the API, with its provider')
    .requiredOption('--endpoint <url>', 'URL of the upstream that this node calls')
  const options = addGraphqlOptions(addWsdlOptions(addUpstreamOptions(command)))
  options.action(async (api: string, flags: UpstreamFlags & WsdlFlags & GraphqlFlags) => {
    const upstream = { ...(await upstreamInputOf(flags)), ...(await wsdlInputOf(flags)) }
    const input = { api, ...upstream, ...(await graphqlInputOf(flags)) }
    const view = await (await cli.node()).request('POST /replicas', { body: input })
    await tellRegistered(cli, view)
  })
}
