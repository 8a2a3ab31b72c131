import { createMcpHandler } from '@modelcontextprotocol/server'
import { limits, SoukError, text } from '../../lib/index.ts'
import { hasBody, readWhole } from '../ingress/body.ts'
import { checkJson } from '../ingress/json.ts'
import { isJsonType } from '../ingress/request.ts'
import { type Visit, whileConnected } from '../ingress/visit.ts'
import { agentServer, type ToolBox } from './tool-box.ts'

/**
 * Answers one message of an agent by Streamable HTTP, in the current revision of the protocol (2026-07-28) or the one before. Nothing is
 * kept from one message to the next, so that any node behind a load balancer can answer each. An agent that goes away ends its call, at
 * the provider too.
 * @throws SoukError `unsupported_media_type`, `invalid_request`, `request_too_large`, before anything was answered
 */
export async function serveAgent(visit: Visit, tools: ToolBox): Promise<void> {
  const { req, res } = visit
  if (!isJsonType(req.headers['content-type'])) {
    throw new SoukError('unsupported_media_type', 'Messages are JSON: send the header Content-Type: application/json.')
  }
  if (!hasBody(req)) throw new SoukError('invalid_request', 'The body is empty: send a JSON-RPC message.')
  const body = await readWhole(req, limits.MCP_MESSAGE_BYTES_MAX)
  if (checkJson(body) !== 'object') throw new SoukError('invalid_request', 'A message is one JSON object.')

  const warn = (cause: Error) =>
    visit.log.warn('an agent could not be answered', { request_id: visit.requestIdText, cause })
  // There is nothing to be told of later: lists are asked for again.
  const handler = createMcpHandler(() => agentServer(tools), { maxSubscriptions: 0, onerror: warn })
  const response = await handler.fetch(requestOf(visit, whileConnected(res)), { parsedBody: JSON.parse(text(body)) })
  await send(visit, response)
}

/** Its body was read already. */
function requestOf({ req }: Visit, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    // Where a key stands it is of no use behind this door.
    if (typeof value === 'string' && name !== 'authorization' && name !== 'x-consumer-key') headers.set(name, value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal })
}

async function send({ res, headers }: Visit, { status, headers: given, body }: Response): Promise<void> {
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

function room(res: Visit['res']): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      res.off('drain', go).off('close', go)
      resolve()
    }
    res.on('drain', go).on('close', go)
  })
}
