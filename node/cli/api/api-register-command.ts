import { InvalidArgumentError } from 'commander'
import type { RegisteredView, RegisterInput, ReplicaInput } from '../../admin/api.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { addGraphqlOptions, type GraphqlFlags, graphqlInputOf } from '../options/graphql-options.ts'
import { decimal, wholeNumber } from '../options/number-option.ts'
import { protocolOption } from '../options/protocol-option.ts'
import type { RateLimitInput } from '../../admin/subscriptions/rate-api.ts'
import { PROTOCOLS_TEXT, type ProtocolName } from '../../../protocols/protocol-descriptors.ts'
import { addRateOptions, rate, type RateFlags, rateInputOf } from '../options/rate-option.ts'
import { addUpstreamOptions, type UpstreamFlags, upstreamInputOf } from '../options/upstream-options.ts'
import { addWsdlOptions, type WsdlFlags, wsdlInputOf } from '../options/wsdl-options.ts'

interface RegisterFlags extends UpstreamFlags, WsdlFlags, GraphqlFlags, RateFlags {
  readonly name: string
  readonly protocol: ProtocolName
  readonly price: string
  readonly pricePerEvent?: string
  readonly eventsIncluded?: number
  readonly currency: 'USDC'
  readonly description?: string
  readonly tag?: string[]
  readonly idempotent?: boolean
  readonly requestBytesMax?: number
  readonly forwardPaths?: boolean
  readonly inFlight?: number
  readonly failures?: Omit<RateLimitInput, 'burst'>
}

/** Options as in the service specification, part 4.5; the further ones are all optional. */
export const addApiRegister: AddCommand = (to, cli) => {
  const command = to
    .command('register')
    .description('publish an API; its endpoint is read first. A name again makes a new revision')
    .requiredOption('--name <name>', 'a-z, 0-9 and "-"')
    .requiredOption('--protocol <protocol>', PROTOCOLS_TEXT, protocolOption)
    .requiredOption('--endpoint <url>', 'base address; for SOAP of the WSDL, or with --wsdl-file of the service')
    .requiredOption('--price <number>', 'per call; 0 is free', decimal)
    .option(
      '--price-per-event <number>',
      'of a stream, beside the price of opening it (default: events cost nothing)',
      decimal
    )
    .option('--events-included <number>', 'events that come with the opening (default: 0)', wholeNumber)
    .option('--currency <currency>', 'of the price', currency, 'USDC')
    .option('--description <text>', 'what it is for')
    .option('--tag <tag>', 'to be found by; may be repeated', collect)
    .option('--idempotent', 'a call may be repeated without harm')
    .option('--request-bytes-max <bytes>', 'largest request body', wholeNumber)
    .option('--forward-paths', 'REST: pass other methods and sub-paths on')
    .option('--in-flight <calls>', 'calls of one consumer at once (default: 256)', wholeNumber)
    .option('--failures <calls/time>', 'failed calls of one consumer, which are not charged (default: 1000/1h)', rate)
  addRateOptions(command, 'calls of one consumer')
  addGraphqlOptions(addWsdlOptions(addUpstreamOptions(command))).action(async (flags: RegisterFlags) => {
    const upstream = { ...(await upstreamInputOf(flags)), ...(await wsdlInputOf(flags)) }
    const input = { ...inputOf(flags), ...upstream, ...(await graphqlInputOf(flags)) }
    const view = await (await cli.node()).request('POST /apis', { body: input })
    await tellRegistered(cli, view)
  })
}

function inputOf(flags: RegisterFlags): Omit<RegisterInput, keyof ReplicaInput> {
  return {
    name: flags.name,
    protocol: flags.protocol,
    price: flags.price,
    price_per_event: flags.pricePerEvent,
    events_included: flags.eventsIncluded,
    currency: flags.currency,
    description: flags.description,
    tags: flags.tag,
    idempotent: flags.idempotent,
    request_bytes_max: flags.requestBytesMax,
    forward_paths: flags.forwardPaths,
    rate_limit: rateInputOf(flags),
    in_flight_per_consumer: flags.inFlight,
    failures_per_consumer: flags.failures
  }
}

export async function tellRegistered(cli: Cli, view: RegisteredView): Promise<void> {
  const { api, updated, warnings } = view
  for (const warning of warnings) cli.terminal.note(`warning: ${warning}`)
  await cli.print(view, () => [api.id])
  const many = api.operations.length
  const found = many === 0 ? '' : `, ${many} operation${many === 1 ? '' : 's'}`
  const events = api.price_per_event === null ? '' : ` and ${api.price_per_event} USDC per event`
  cli.terminal.note(
    `${updated ? 'Updated' : 'Registered'} ${api.name}: ${api.protocol}${found}, ${api.price} USDC per call${events}, ${api.state}.`
  )
  if (api.published === null || api.published.stored === 0) {
    cli.terminal.note('No other node has heard of it yet: it is announced as peers connect.')
  }
}

function currency(typed: string): string {
  if (typed.toUpperCase() !== 'USDC') throw new InvalidArgumentError('Prices are in USDC.')
  return 'USDC'
}

function collect(tag: string, before: string[] = []): string[] {
  return [...before, tag]
}
