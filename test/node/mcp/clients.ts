import { Client as CurrentClient, StreamableHTTPClientTransport as CurrentHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as CurrentStdio } from '@modelcontextprotocol/client/stdio'
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as FormerStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as FormerHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export interface AgentTool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema: Record<string, unknown>
  readonly outputSchema?: Record<string, unknown> | undefined
  readonly annotations?: Record<string, unknown> | undefined
}

export interface AgentResult {
  readonly content: ReadonlyArray<{ readonly type: string; readonly [member: string]: unknown }>
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
  /** The tool's metadata, by names without the prefix `dev.souk/`. */
  readonly meta: Readonly<Record<string, unknown>>
}

/** The common interface of all agent clients. */
export interface AgentClient {
  tools(): Promise<AgentTool[]>
  call(name: string, given?: Record<string, unknown>, options?: CallOptions): Promise<AgentResult>
  /** The SDK's own methods for the rest of the protocol. */
  readonly sdk: Pick<
    CurrentClient,
    'listResources' | 'listResourceTemplates' | 'readResource' | 'listPrompts' | 'getPrompt' | 'complete'
  >
  readonly version: string | undefined
  close(): Promise<void>
}

interface CallOptions {
  readonly signal?: AbortSignal
  readonly meta?: Record<string, unknown>
  /** Asks for notifications about the progress. */
  readonly onProgress?: (progress: { readonly progress: number; readonly message?: string | undefined }) => void
}

/** Ways to connect an SDK's client to a server. */
export type Way =
  | { readonly url: string; readonly headers?: Record<string, string> }
  | { readonly command: string; readonly args: string[]; readonly env: Record<string, string> }

const INFO = { name: 'tests', version: '1' }

/** Clients of the current and of the previous protocol revision. */
export const CLIENTS: ReadonlyArray<readonly [revision: string, connect: (way: Way) => Promise<AgentClient>]> = [
  ['2026-07-28', connectCurrent],
  ['2025-11-25', connectFormer]
]

export async function connectCurrent(way: Way): Promise<AgentClient> {
  const client = new CurrentClient(INFO, { versionNegotiation: { mode: 'auto' } })
  const transport =
    'url' in way
      ? new CurrentHttp(new URL(way.url), { requestInit: { headers: way.headers ?? {} } })
      : new CurrentStdio({ ...way, stderr: 'pipe' })
  await client.connect(transport)
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, given = {}, { signal, meta, onProgress } = {}) => {
      const params = { name, arguments: given, ...(meta === undefined ? {} : { _meta: meta }) }
      return resultOf(await client.callTool(params, optionsOf(signal, onProgress)))
    },
    sdk: client,
    get version() {
      return client.getNegotiatedProtocolVersion()
    },
    close: () => client.close()
  }
}

async function connectFormer(way: Way): Promise<AgentClient> {
  const client = new FormerClient(INFO)
  const transport =
    'url' in way
      ? new FormerHttp(new URL(way.url), { requestInit: { headers: way.headers ?? {} } })
      : new FormerStdio({ ...way, stderr: 'pipe' })
  await client.connect(transport)
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, given = {}, { signal, meta, onProgress } = {}) => {
      const params = { name, arguments: given, ...(meta === undefined ? {} : { _meta: meta }) }
      return resultOf(await client.callTool(params, undefined, optionsOf(signal, onProgress)))
    },
    sdk: client as unknown as AgentClient['sdk'],
    get version() {
      return transport instanceof FormerHttp ? transport.protocolVersion : undefined
    },
    close: () => client.close()
  }
}

function optionsOf(signal: AbortSignal | undefined, onProgress: CallOptions['onProgress']) {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onprogress: onProgress })
  }
}

function resultOf(result: object): AgentResult {
  const { _meta: beside = {}, ...rest } = result as AgentResult & { _meta?: Record<string, unknown> }
  const meta = Object.entries(beside).map(([name, value]): [string, unknown] => [name.replace('dev.souk/', ''), value])
  return { ...rest, meta: Object.fromEntries(meta) }
}
