import type { UpstreamCallView, UpstreamCheckView } from '../../admin/apis/description-api.ts'
import { PROTOCOLS_TEXT, type ProtocolName } from '../../../protocols/protocol-descriptors.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { callBodyOf } from '../options/call-body.ts'
import { addGraphqlOptions, type GraphqlFlags, graphqlInputOf } from '../options/graphql-options.ts'
import { protocolOption } from '../options/protocol-option.ts'
import { milliseconds } from '../terminal/table.ts'
import { addUpstreamOptions, type UpstreamFlags, upstreamInputOf } from '../options/upstream-options.ts'
import { addWsdlOptions, type WsdlFlags, wsdlInputOf } from '../options/wsdl-options.ts'

interface CheckFlags extends UpstreamFlags, WsdlFlags, GraphqlFlags {
  readonly protocol: ProtocolName
  readonly call?: string
}

/** Dry run of `register`: shows what it would read and what a consumer would receive. */
export const addApiCheck: AddCommand = (to, cli) => {
  const command = to
    .command('check')
    .description('read an API without publishing it; with --call, also make one real call')
    .requiredOption('--protocol <protocol>', PROTOCOLS_TEXT, protocolOption)
    .requiredOption(
      '--endpoint <url>',
      'base URL; for SOAP the URL of the WSDL, or with --wsdl-file the URL of the service'
    )
    .option('--call <json>', 'request as a consumer would send it; not counted or charged')
  addGraphqlOptions(addWsdlOptions(addUpstreamOptions(command))).action(async (flags: CheckFlags) => {
    const body = flags.call === undefined ? undefined : await callBodyOf(flags.call, `--call '{"field":"value"}'`)
    const described = { ...(await upstreamInputOf(flags)), ...(await wsdlInputOf(flags)) }
    const upstream = { protocol: flags.protocol, ...described, ...(await graphqlInputOf(flags)) }
    const node = await cli.node()
    if (body === undefined) await tellFound(cli, await node.request('POST /upstreams/check', { body: upstream }))
    else await tellResponse(cli, await node.request('POST /upstreams/call', { body: { upstream, body } }))
  })
}

async function tellFound(cli: Cli, view: UpstreamCheckView): Promise<void> {
  for (const warning of view.warnings) cli.terminal.note(`warning: ${warning}`)
  await cli.print(view, () => (view.sdl === null ? view.operations.map(({ name }) => name) : [view.sdl]))
}

async function tellResponse(cli: Cli, view: UpstreamCallView): Promise<void> {
  const { status, success, upstream_ms, body, is_cut } = view
  await cli.print(view, () => (body === '' ? [] : [body]))
  const charged = success ? 'would be charged' : 'would not be charged'
  cli.terminal.note(`${status} in ${milliseconds(upstream_ms)} ms; ${charged}${is_cut ? '; truncated' : ''}`)
  if (!success) cli.exitCode = EXIT.failed
}
