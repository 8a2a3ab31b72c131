import { InvalidArgumentError } from 'commander'
import type { RegisterInput, ReplicaInput } from '../../admin/api.ts'
import type { AddCommand } from '../cli.ts'
import { addGraphqlOptions, type GraphqlFlags, graphqlInputOf } from '../options/graphql-options.ts'
import { decimal, wholeNumber } from '../options/number-option.ts'
import { protocolOption } from '../options/protocol-option.ts'
import type { RateLimitInput } from '../../admin/subscriptions/rate-api.ts'
import { register, tellRegistered } from './register.ts'
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
  readonly replace?: boolean
  readonly failures?: Omit<RateLimitInput, 'burst'>
}

/** Options of the service specification, part 4.5. All additional options are optional. */
export const addApiRegister: AddCommand = (to, cli) => {
  const command = to
    .command('register')
    .description('read the endpoint and publish the API; changes to a registered API need --replace')
    .requiredOption('--name <name>', 'a-z, 0-9 and "-"')
    .requiredOption('--protocol <protocol>', PROTOCOLS_TEXT, protocolOption)
    .requiredOption(
      '--endpoint <url>',
      'base URL; for SOAP the URL of the WSDL, or with --wsdl-file the URL of the service'
    )
    .requiredOption('--price <number>', 'price per call; 0 is free', decimal)
    .option(
      '--price-per-event <number>',
      'price per event of a stream, in addition to --price (default: events are free)',
      decimal
    )
    .option('--events-included <number>', 'events included in --price (default: 0)', wholeNumber)
    .option('--currency <currency>', 'currency of the price', currency, 'USDC')
    .option('--description <text>', 'purpose of the API (default: from its OpenAPI document)')
    .option('--tag <tag>', 'tag for searches; may be repeated', collect)
    .option('--idempotent', 'calls are idempotent, so they may be retried')
    .option('--request-bytes-max <bytes>', 'largest request body', wholeNumber)
    .option('--forward-paths', 'REST: forward other methods and sub-paths')
    .option('--replace', 'change an API that is registered under the same name')
    .option('--in-flight <calls>', 'concurrent calls per consumer (default: 256)', wholeNumber)
    .option(
      '--failures <calls/time>',
      'limit of failed calls per consumer, because failed calls are not charged (default: 1000/1h)',
      rate
    )
  addRateOptions(command, 'rate limit per consumer')
  addGraphqlOptions(addWsdlOptions(addUpstreamOptions(command))).action(async (flags: RegisterFlags) => {
    const upstream = { ...(await upstreamInputOf(flags)), ...(await wsdlInputOf(flags)) }
    const input = { ...inputOf(flags), ...upstream, ...(await graphqlInputOf(flags)) }
    const view = await register(cli, await cli.node(), { ...input, replace: flags.replace === true })
    if (view !== undefined) await tellRegistered(cli, view)
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

function currency(typed: string): string {
  if (typed.toUpperCase() !== 'USDC') throw new InvalidArgumentError('Give USDC. Other currencies are not supported.')
  return 'USDC'
}

function collect(tag: string, before: string[] = []): string[] {
  return [...before, tag]
}
