import { readFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { UpstreamMethod } from '../../../lib/interface/index.ts'
import type { ReplicaInput } from '../../admin/api.ts'
import { readAuthFile } from './auth-file.ts'
import { wholeNumber } from './number-option.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** Options that say where an API is and how it is called; all but the endpoint may be left out. */
export interface UpstreamFlags {
  readonly endpoint: string
  readonly authFile?: string
  /** `--no-auth` makes it false. */
  readonly auth: boolean
  readonly method?: UpstreamMethod
  readonly timeoutMs?: number
  readonly inFlightMax?: number
  readonly openapi?: string
  readonly explicit?: boolean
  readonly sseMaxEvents?: number
  readonly sseMaxMs?: number
  readonly requestHeader?: string[]
  readonly responseHeader?: string[]
  readonly healthPath?: string
}

/** What a number of milliseconds or events is where only the other one is given. */
const SSE_DEFAULTS = { events: 100, ms: 10_000 }

export function addUpstreamOptions(command: Command): Command {
  return command
    .option('--auth-file <file>', 'JSON with the credentials of the endpoint; they stay on this node, encrypted')
    .option('--no-auth', 'no credentials any more')
    .option('--timeout-ms <ms>', 'longest answer of the endpoint', wholeNumber)
    .option('--in-flight-max <number>', 'most requests to it at once', wholeNumber)
    .option('--method <method>', 'REST: GET, POST, PUT, PATCH, DELETE or HEAD upstream (default: POST)', method)
    .option('--openapi <url|file>', 'REST: an OpenAPI document, whose operations calls name')
    .option('--explicit', 'REST: calls may say method, path, query, headers and body themselves')
    .option('--sse-max-events <number>', 'REST: most events collected for clients that take no stream', wholeNumber)
    .option('--sse-max-ms <ms>', 'REST: longest time they are collected', wholeNumber)
    .option('--request-header <name>', 'REST: a further header that may go up; may be repeated', collect)
    .option('--response-header <name>', 'REST: a further header that may come down; may be repeated', collect)
    .option('--health-path <path>', 'REST: answers a GET with 2xx while the API is well; else the listing pauses')
}

/** @throws UsageError for a file that cannot be read */
export async function upstreamInputOf(flags: UpstreamFlags): Promise<Omit<ReplicaInput, 'api'>> {
  const { sseMaxEvents, sseMaxMs, authFile, openapi } = flags
  const collects = sseMaxEvents !== undefined || sseMaxMs !== undefined
  if (authFile !== undefined && !flags.auth) throw new UsageError('Either --auth-file or --no-auth.')
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
    request_headers: flags.requestHeader,
    response_headers: flags.responseHeader,
    health_path: flags.healthPath
  }
}

async function documentOf(given: string): Promise<{ url: string } | { text: string }> {
  if (/^https?:\/\//i.test(given)) return { url: given }
  const text = await readFile(given, 'utf8').catch(() => {
    throw new UsageError(`${given} cannot be read.`)
  })
  return { text }
}

function method(typed: string): string {
  const upper = typed.toUpperCase()
  if (/^(?:GET|POST|PUT|PATCH|DELETE|HEAD)$/.test(upper)) return upper
  throw new InvalidArgumentError('It is GET, POST, PUT, PATCH, DELETE or HEAD.')
}

function collect(name: string, before: string[] = []): string[] {
  return [...before, name]
}
