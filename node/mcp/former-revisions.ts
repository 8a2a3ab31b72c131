import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Transport,
  WebStandardStreamableHTTPServerTransport
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Agent } from './agent.ts'
import { agentServer } from './agent-server.ts'

/**
 * Responds to a message, or a batch of messages, of a revision before 2026-07-28. A session id is issued only to tell agents with the same
 * key apart: any node accepts any id.
 * @param request - its signal ends the exchange
 * @param takesEvents - whether the client can read a stream; else all notifications are dropped
 */
export async function answerFormer(
  request: Request,
  message: unknown,
  agent: Agent,
  { takesEvents, makeId }: { readonly takesEvents: boolean; readonly makeId: () => string }
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !takesEvents,
    ...(isInitializeRequest(message) ? { sessionIdGenerator: makeId } : {})
  })
  const mcp = agentServer(agent)
  await mcp.connect(inFormerTerms(transport))
  const ended = Promise.withResolvers<Response>()
  const end = () => {
    ended.resolve(new Response(null, { status: 204 }))
    void mcp.close()
  }
  if (request.signal.aborted) end()
  request.signal.addEventListener('abort', end)
  return Promise.race([transport.handleRequest(request, { parsedBody: message }), ended.promise])
}

/** Makes a transport send the error codes of revisions before 2026-07-28. */
export function inFormerTerms<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => send(former(message), options)
  return transport
}

function former(message: JSONRPCMessage): JSONRPCMessage {
  if (!isJSONRPCErrorResponse(message)) return message
  const wrong = wrongParameters(message.error)
  if (wrong !== undefined) return { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: wrong } }
  const { code, message: detail, data } = message.error
  const isMissing = ProtocolError.fromError(code, detail, data) instanceof ResourceNotFoundError
  return isMissing ? { ...message, error: { ...message.error, code: ProtocolErrorCode.ResourceNotFound } } : message
}

const INTERNAL_ERROR: number = ProtocolErrorCode.InternalError
const ISSUES = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)

/** The SDK takes wrong parameters of `initialize` for a fault of the server. The text of its error is the issues as JSON. */
function wrongParameters({ code, message }: { readonly code: number; readonly message: string }): string | undefined {
  if (code !== INTERNAL_ERROR || !message.startsWith('[')) return undefined
  try {
    const issues = ISSUES.parse(JSON.parse(message))
    return issues.map(({ path, message: issue }) => `${path.join('.')}: ${issue}`).join('; ')
  } catch {
    return undefined
  }
}
