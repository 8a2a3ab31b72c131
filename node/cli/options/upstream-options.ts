import { readFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { UpstreamMethod } from '../../../lib/interface/index.ts'
import type { ReplicaInput } from '../../admin/api.ts'
import { readAuthFile } from './auth-file.ts'
import { wholeNumber } from './number-option.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** Options for the upstream of an API. Only the endpoint is required. */
export interface UpstreamFlags {
  readonly endpoint: string
  readonly authFile?: string
  /** False with `--no-auth`. */
  readonly auth: boolean
  readonly method?: UpstreamMethod
  readonly timeoutMs?: number
  readonly inFlightMax?: number
  readonly openapi?: string
  readonly explicit?: boolean
  readonly sseMaxEvents?: number
  readonly sseMaxMs?: number
  readonly server?: string[]
  readonly requestCookie?: string[]
  readonly requestHeader?: string[]
  readonly responseHeader?: string[]
  readonly healthPath?: string
}

/** Defaults if only one of `--sse-max-events` and `--sse-max-ms` is given. */
const SSE_DEFAULTS = { events: 100, ms: 10_000 }

export function addUpstreamOptions(command: Command): Command {
  return command
    .option('--auth-file <file>', 'JSON file with credentials for the endpoint; stored encrypted on this node only')
    .option('--no-auth', 'remove the stored credentials')
    .option('--timeout-ms <ms>', 'time limit for a response of the endpoint', wholeNumber)
    .option('--in-flight-max <number>', 'maximum of concurrent requests to the endpoint', wholeNumber)
    .option('--method <method>', 'REST: GET, POST, PUT, PATCH, DELETE or HEAD upstream (default: POST)', method)
    .option('--openapi <url|file>', 'REST: OpenAPI document, or a zip of its files; calls then name its operations')
    .option('--explicit', 'REST: calls may choose method, path, query, headers and body')
    .option('--sse-max-events <number>', 'REST: maximum of events collected for clients without streaming', wholeNumber)
    .option('--sse-max-ms <ms>', 'REST: maximum time to collect events', wholeNumber)
    .option(
      '--server <origin>',
      'REST: origin of operations that the document places elsewhere; it gets the credentials too; may be repeated',
      collect
    )
    .option(
      '--request-cookie <name>',
      'REST: cookie that operations of the document may send; may be repeated',
      collect
    )
    .option('--request-header <name>', 'REST: additional request header to forward; may be repeated', collect)
    .option('--response-header <name>', 'REST: additional response header to forward; may be repeated', collect)
    .option('--health-path <path>', 'REST: path for health checks by GET; without a 2xx status the listing is paused')
}

/** @throws UsageError if a file cannot be read */
export async function upstreamInputOf(flags: UpstreamFlags): Promise<Omit<ReplicaInput, 'api'>> {
  const { sseMaxEvents, sseMaxMs, authFile, openapi } = flags
  const collects = sseMaxEvents !== undefined || sseMaxMs !== undefined
  if (authFile !== undefined && !flags.auth) throw new UsageError('Give either --auth-file or --no-auth, not both.')
  return {
    endpoint: flags.endpoint,
    auth: flags.auth ? (authFile === undefined ? undefined : await readAuthFile(authFile)) : null,
    method: flags.method,
    timeout_ms: flags.timeoutMs,
    in_flight_max: flags.inFlightMax,
    openapi: openapi === undefined ? undefined : await documentOf(openapi),
    explicit: flags.explicit,
    collect: collects
      ? { max_events: sseMaxEvents ?? SSE_DEFAULTS.events, max_ms: sseMaxMs ?? SSE_DEFAULTS.ms }
      : undefined,
    servers: flags.server,
    request_cookies: flags.requestCookie,
    request_headers: flags.requestHeader,
    response_headers: flags.responseHeader,
    health_path: flags.healthPath
  }
}

async function documentOf(given: string): Promise<{ url: string } | { text: string } | { zip: string }> {
  if (/^https?:\/\//i.test(given)) return { url: given }
  const bytes = await readFile(given).catch(() => {
    throw new UsageError(`${given} cannot be read.`)
  })
  // Signature of a zip (APPNOTE.TXT 4.3.7).
  if (bytes.toString('latin1', 0, 2) === 'PK') return { zip: bytes.toString('base64') }
  const { decodedText } = await import('../../../lib/base/decoded-text.ts')
  return { text: decodedText(bytes) }
}

function method(typed: string): string {
  const upper = typed.toUpperCase()
  if (/^(?:GET|POST|PUT|PATCH|DELETE|HEAD)$/.test(upper)) return upper
  throw new InvalidArgumentError('Give GET, POST, PUT, PATCH, DELETE or HEAD.')
}

function collect(name: string, before: string[] = []): string[] {
  return [...before, name]
}
