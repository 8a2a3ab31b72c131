import { createMcpHandler } from '@modelcontextprotocol/server'
import { checkJson, limits, parseApiRef, SoukError, text } from '../../lib/index.ts'
import type { ApiRef } from '../../lib/interface/index.ts'
import type { BodyReader } from '../ingress/calls/body-reader.ts'
import { hasBody } from '../ingress/calls/body.ts'
import { isJsonType } from '../ingress/calls/request.ts'
import type { RequestContext } from '../ingress/request-context.ts'
import { whileConnected } from '../http/while-connected.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import { agentServer, type ToolBox } from './agent-server.ts'

/** What a message came with, and what its response goes to. */
export type Exchange = Pick<RequestContext, 'req' | 'res' | 'headers'>

/**
 * Reads one message of an agent, and answers it.
 * @throws SoukError `unsupported_media_type`, `invalid_request`, `request_too_large`, `overloaded`, before anything was answered
 */
export async function serveAgent(
  context: RequestContext,
  tools: ToolBox,
  bodies: BodyReader,
  holder: KeyHolder
): Promise<void> {
  const { req } = context
  if (!isJsonType(req.headers['content-type'])) {
    throw new SoukError('unsupported_media_type', 'Messages are JSON: send the header Content-Type: application/json.')
  }
  if (!hasBody(req)) throw new SoukError('invalid_request', 'The body is empty: send a JSON-RPC message.')
  const held = bodies.hold(req, holder)
  try {
    const body = await bodies.read(context, limits.MCP_MESSAGE_BYTES_MAX, held)
    if (checkJson(body) !== 'object') throw new SoukError('invalid_request', 'A message is one JSON object.')
    await answerAgent(context, tools, JSON.parse(text(body)))
  } finally {
    held.free()
  }
}

/**
 * Answers one message by Streamable HTTP, in the current revision of the protocol (2026-07-28) or the one before. Nothing is kept from one
 * message to the next, so that any node behind a load balancer can answer each. An agent that goes away ends its call, at the provider too.
 */
export async function answerAgent(exchange: Exchange, tools: ToolBox, message: unknown): Promise<void> {
  // There is nothing to be told of later: lists are asked for again.
  const handler = createMcpHandler(() => agentServer(tools), { maxSubscriptions: 0 })
  const request = requestOf(exchange, whileConnected(exchange.res))
  await send(exchange, await handler.fetch(request, { parsedBody: message }))
}

/** The APIs that a URL names by `?api=`. @throws SoukError `invalid_request` */
export function apisIn(url: string): ApiRef[] {
  const apis = new URLSearchParams(url.split('?')[1] ?? '').getAll('api').map(parseApiRef)
  if (apis.length <= limits.MCP_APIS_MAX) return apis
  throw new SoukError('invalid_request', `At most ${limits.MCP_APIS_MAX} APIs can be tools at once.`)
}

/** Its body was read already. */
function requestOf({ req }: Exchange, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    // Where a key stands it is of no use behind this door.
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
    // The agent went away, or what would have answered it did.
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
