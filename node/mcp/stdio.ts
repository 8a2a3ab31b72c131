import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { McpRequestContext } from '@modelcontextprotocol/server'
import { limits, SoukError } from '../../lib/index.ts'
import type { Agent } from './agent.ts'
import { agentServer } from './agent-server.ts'
import { inFormerTerms } from './former-revisions.ts'

export interface Stdio {
  readonly stdin: AsyncIterable<Uint8Array | string>
  write(data: Uint8Array): Promise<void>
}

/**
 * Serves an agent that started this program, until the agent closes its input or `stopped` resolves.
 * @throws SoukError `request_too_large` for a message over `MCP_STDIO_BYTES_MAX`. Its id cannot be read, so it gets no response.
 */
export async function serveStdioAgent(stdio: Stdio, agent: Agent, stopped: Promise<void>): Promise<void> {
  const input = Readable.from(stdio.stdin, { objectMode: false })
  const output = Writable.fromWeb(new WritableStream({ write: (chunk: Uint8Array) => stdio.write(chunk) }))
  const transport = new StdioServerTransport(input, output, { maxBufferSize: limits.MCP_STDIO_BYTES_MAX })
  const serve = ({ era }: McpRequestContext) => {
    if (era === 'legacy') inFormerTerms(transport)
    return agentServer(agent)
  }
  const handle = serveStdio(serve, { transport, maxSubscriptions: 0 })
  await Promise.race([once(input, 'close'), stopped, tooLarge(transport, input)])
  await handle.close()
}

/** The transport closes before its input only at a message that exceeds its buffer. */
function tooLarge(transport: StdioServerTransport, input: Readable): Promise<never> {
  const closed = Promise.withResolvers<never>()
  const close = transport.close.bind(transport)
  transport.close = () => {
    const most = limits.MCP_STDIO_BYTES_MAX
    if (!input.readableEnded && !input.destroyed)
      closed.reject(new SoukError('request_too_large', `The agent sent a message of more than ${most} bytes.`))
    return close()
  }
  return closed.promise
}
