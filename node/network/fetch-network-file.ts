import { readFile } from 'node:fs/promises'
import type { Dispatcher } from 'undici'
import { deadline, isPublicIp, isSoukError, limits, SoukError, systemClock, text } from '../../lib/index.ts'
import type { UpstreamGuard } from '../../lib/interface/index.ts'
import { isLoopback } from '../http/loopback.ts'
import { SetupError } from '../setup-error.ts'
import { isWebUrl } from './web-url.ts'

/** Whether a choice of a network is an address on the web, and not a name or a path. */
export function isUrl(choice: string): boolean {
  return /^https?:\/\//i.test(choice)
}

/** The content of a network file, on disk or on the web. @throws SetupError `config_invalid`, `network_invalid` */
export async function loadNetworkFile(place: string): Promise<string> {
  return isUrl(place) ? (await fetchNetworkFile(place)).content : readLocal(place)
}

/** A network file on the web. */
export interface FetchedFile {
  readonly content: string
  readonly etag?: string
}

async function readLocal(path: string): Promise<string> {
  const content = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new SetupError('config_invalid', `There is no network "${path}", and no file of this name.`, {
      cause,
      hint: 'demo, dev, base-sepolia, base, or the path or https URL of a network file'
    })
  })
  return content
}

export interface FetchOptions {
  readonly withinMs?: number
}

/** @throws SetupError `config_invalid`, `network_invalid` */
export async function fetchNetworkFile(place: string, options?: FetchOptions): Promise<FetchedFile>
/** @returns undefined if the file still has this ETag */
export async function fetchNetworkFile(
  place: string,
  options: FetchOptions & { readonly etag: string | undefined }
): Promise<FetchedFile | undefined>
export async function fetchNetworkFile(
  place: string,
  { withinMs = limits.NETWORK_FETCH_MS, etag }: FetchOptions & { readonly etag?: string | undefined } = {}
): Promise<FetchedFile | undefined> {
  if (!isWebUrl(place)) {
    throw new SetupError('config_invalid', 'A network file is fetched by https, or by http on this machine.')
  }
  const first = new URL(place)
  // To load them takes seconds on a busy machine, which the time limit does not include.
  await clients()
  const limit = deadline(systemClock, withinMs, () => new SoukError('upstream_timeout'))
  const { signal } = limit
  try {
    let url = first
    for (let redirects = 0; redirects <= limits.NETWORK_REDIRECTS_MAX; redirects++) {
      const fetched = await fetchOnce(url, { isRedirected: url !== first, etag, signal })
      if (fetched === undefined || 'content' in fetched) return fetched
      url = new URL(fetched.next, url)
      // A page on the web must not send this machine to itself or to its neighbours.
      if (url.protocol !== 'https:' || !isWebUrl(url.href) || isLoopback(url.hostname)) {
        throw unavailable(first, 'it redirects to an address that is not public https')
      }
    }
  } finally {
    limit.clear()
  }
  throw unavailable(first, `it redirects more than ${limits.NETWORK_REDIRECTS_MAX} times`)
}

const clients = () => Promise.all([import('undici'), import('../../protocols/index.ts')])

const PUBLIC_ONLY: UpstreamGuard = { refuses: (_host, address) => !isPublicIp(address) }

interface Attempt {
  readonly isRedirected: boolean
  readonly etag: string | undefined
  readonly signal: AbortSignal
}

async function fetchOnce(
  url: URL,
  { isRedirected, etag, signal }: Attempt
): Promise<FetchedFile | { readonly next: string } | undefined> {
  const [{ Agent, request }, { connectorTo }] = await clients()
  const agent = new Agent(isRedirected ? { connect: connectorTo(url, PUBLIC_ONLY, undefined) } : {})
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher: agent,
      signal,
      headers: etag === undefined ? {} : { 'if-none-match': etag }
    })
    const location = headers['location']
    if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') return { next: location }
    if (statusCode === 304 && etag !== undefined) return undefined
    if (statusCode !== 200) throw unavailable(url, `it responds with status ${statusCode}`)
    const tag = headers['etag']
    const isTag = typeof tag === 'string' && tag.length <= limits.ETAG_CHARS_MAX
    return { content: await bounded(url, body), ...(isTag && { etag: tag }) }
  } catch (error) {
    if (error instanceof SetupError) throw error
    throw unavailable(url, signal.aborted ? 'it does not respond in time' : reasonOf(error))
  } finally {
    await agent.destroy()
  }
}

async function bounded(url: URL, body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > limits.NETWORK_FILE_BYTES_MAX) {
      throw unavailable(url, `it is larger than ${limits.NETWORK_FILE_BYTES_MAX} bytes`)
    }
    chunks.push(chunk)
  }
  return text(Buffer.concat(chunks))
}

function reasonOf(error: unknown): string {
  if (isSoukError(error)) return 'it redirects to a private address'
  return error instanceof Error ? error.message : String(error)
}

/** Without the path and query of the URL, which may contain a token. */
function unavailable(url: URL, why: string): SetupError {
  return new SetupError('network_invalid', `The network file at ${url.host} cannot be used: ${why}.`)
}
