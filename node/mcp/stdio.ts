import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { McpRequestContext } from '@modelcontextprotocol/server'
import type { Agent } from './agent.ts'
import { agentServer } from './agent-server.ts'
import { inFormerTerms } from './former-revisions.ts'
import { StdioMessages } from './stdio-messages.ts'

export interface Stdio {
  readonly stdin: AsyncIterable<Uint8Array | string>
  write(data: Uint8Array): Promise<void>
}

/**
 * Serves an agent that started this program, until the agent closes its input or `stopped` resolves.
 * @throws SoukError `request_too_large` for a message over `MCP_STDIO_BYTES_MAX`. Its id cannot be read, so it gets no response.
 */
export async function serveStdioAgent(stdio: Stdio, agent: Agent, stopped: Promise<void>): Promise<void> {
  const output = Writable.fromWeb(new WritableStream({ write: (chunk: Uint8Array) => stdio.write(chunk) }))
  const messages = new StdioMessages((json) => void output.write(`${json}\n`))
  const input = Readable.from(messages.read(stdio.stdin), { objectMode: false })
  // `StdioMessages` bounds each message before the transport reads it. Escapes may be longer there.
  const transport = new StdioServerTransport(input, output, { maxBufferSize: Number.POSITIVE_INFINITY })
  const serve = ({ era }: McpRequestContext) => {
    if (era === 'legacy') inFormerTerms(transport)
    return agentServer(agent)
  }
  const send = transport.send.bind(transport)
  transport.send = async (message) => (messages.holds(message) ? undefined : send(message))
  const handle = serveStdio(serve, { transport, maxSubscriptions: 0 })
  await Promise.race([once(input, 'close'), stopped])
  await handle.close()
}
