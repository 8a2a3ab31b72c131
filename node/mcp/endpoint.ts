import { createMcpHandler } from '@modelcontextprotocol/server'
import { checkJson, limits, parseApiRef, SoukError, text } from '../../lib/index.ts'
import type { ApiRef } from '../../lib/interface/index.ts'
import type { BodyReader } from '../ingress/calls/body-reader.ts'
import { hasBody } from '../ingress/calls/body.ts'
import { isJsonType } from '../ingress/calls/request.ts'
import type { RequestContext } from '../ingress/request-context.ts'
import { whileConnected } from '../http/while-connected.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { Agent } from './agent.ts'
import { agentServer } from './agent-server.ts'

/** The HTTP exchange of one message. */
export type Exchange = Pick<RequestContext, 'req' | 'res' | 'headers'>

/**
 * Reads one message of an agent and responds to it.
 * @throws SoukError `unsupported_media_type`, `invalid_request`, `request_too_large`, `overloaded`, before any response was sent
 */
export async function serveAgent(
  context: RequestContext,
  agent: Agent,
  bodies: BodyReader,
  holder: KeyHolder
): Promise<void> {
  const { req } = context
  if (!isJsonType(req.headers['content-type'])) {
    throw new SoukError(
      'unsupported_media_type',
      'Messages must be JSON. Send the header Content-Type: application/json.'
    )
  }
  if (!hasBody(req)) throw new SoukError('invalid_request', 'The body is empty. Send a JSON-RPC message.')
  const held = bodies.hold(req, holder)
  try {
    const body = await bodies.read(context, limits.MCP_MESSAGE_BYTES_MAX, held)
    if (checkJson(body) !== 'object') throw new SoukError('invalid_request', 'A message must be one JSON object.')
    await answerAgent(context, agent, JSON.parse(text(body)))
  } finally {
    held.free()
  }
}

/**
 * Responds to one message by Streamable HTTP, in the current protocol revision (2026-07-28) or the one before. Keeps no state between
 * messages, so any node behind a load balancer can respond. A disconnecting agent ends its call, also at the provider.
 */
export async function answerAgent(exchange: Exchange, agent: Agent, message: unknown): Promise<void> {
  // No change notifications: agents list tools again instead.
  const handler = createMcpHandler(() => agentServer(agent), { maxSubscriptions: 0 })
  const request = requestOf(exchange, whileConnected(exchange.res))
  await send(exchange, await handler.fetch(request, { parsedBody: message }))
}

/** The APIs in the `?api=` parameters of a URL. @throws SoukError `invalid_request` */
export function apisIn(url: string): ApiRef[] {
  const apis = new URLSearchParams(url.split('?')[1] ?? '').getAll('api').map(parseApiRef)
  if (apis.length <= limits.MCP_APIS_MAX) return apis
  throw new SoukError('invalid_request', `The URL may name at most ${limits.MCP_APIS_MAX} APIs.`)
}

/** The patterns in the `?operation=` parameters of a URL. @throws SoukError `invalid_request` */
export function operationsIn(url: string): string[] {
  const patterns = new URLSearchParams(url.split('?')[1] ?? '').getAll('operation')
  if (patterns.length > limits.MCP_PATTERNS_MAX)
    throw new SoukError('invalid_request', `The URL may name at most ${limits.MCP_PATTERNS_MAX} operations.`)
  if (patterns.some((pattern) => pattern === '' || pattern.length > limits.SUMMARIZED_NAME_CHARS_MAX))
    throw new SoukError(
      'invalid_request',
      `An operation in the URL must have 1 to ${limits.SUMMARIZED_NAME_CHARS_MAX} characters.`
    )
  return patterns
}

/** Omits the body, which was read before. */
function requestOf({ req }: Exchange, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    // The key stays here: later code does not need it.
    if (typeof value === 'string' && name !== 'authorization' && name !== 'x-consumer-key') headers.set(name, value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal })
}

async function send({ res, headers }: Exchange, { status, headers: given, body }: Response): Promise<void> {
  if (res.destroyed) return
  res.writeHead(status, [...headers, ...[...given].flat()])
  if (body === null) {
    res.end()
    return
  }
  res.flushHeaders()
  try {
    for await (const chunk of body) if (!res.write(chunk)) await room(res)
    res.end()
  } catch {
    // The agent disconnected, or the MCP handler failed.
    res.destroy()
  }
}

function room(res: RequestContext['res']): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      res.off('drain', go).off('close', go)
      resolve()
    }
    res.on('drain', go).on('close', go)
  })
}
