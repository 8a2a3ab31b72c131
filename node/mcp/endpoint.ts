import { createMcpHandler, isJSONRPCRequest, isLegacyRequest } from '@modelcontextprotocol/server'
import { checkJson, type HeldBytes, limits, SoukError, systemRandom, text } from '../../lib/index.ts'
import type { BodyReader } from '../ingress/calls/body-reader.ts'
import { hasBody } from '../ingress/calls/body.ts'
import { isJsonType } from '../ingress/calls/request.ts'
import { type RequestContext, sendWhole } from '../ingress/request-context.ts'
import { roomIn } from '../http/room-in.ts'
import { untilRead } from '../http/until-read.ts'
import { whileConnected } from '../http/while-connected.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { Agent } from './agent.ts'
import { agentServer } from './agent-server.ts'
import { cancelledBy, checkBatch } from './batch.ts'
import { answerFormer } from './former-revisions.ts'
import type { RunningCalls } from './running-calls.ts'

/** The HTTP exchange of one message. */
export interface Exchange extends Pick<RequestContext, 'req' | 'res' | 'headers' | 'clock'> {
  /** Memory reservation for what the client has not read yet. Default: not limited */
  readonly unread?: HeldBytes
}

/** The sender of a message. */
export interface AgentCaller {
  readonly holder: KeyHolder
  readonly running: RunningCalls
  /** Counts each further message of a batch, as the request was counted. */
  readonly count: () => void
}

/**
 * Reads one message of an agent, or a batch, and responds to it.
 * @throws SoukError `unsupported_media_type`, `invalid_request`, `request_too_large`, `overloaded`, before any response was sent
 */
export async function serveAgent(
  context: RequestContext,
  agent: Agent,
  bodies: BodyReader,
  { holder, running, count }: AgentCaller
): Promise<void> {
  const { req } = context
  if (!isJsonType(req.headers['content-type'])) {
    throw new SoukError(
      'unsupported_media_type',
      'Messages must be JSON. Send the header Content-Type: application/json.'
    )
  }
  if (!hasBody(req)) throw new SoukError('invalid_request', 'The body is empty. Send a JSON-RPC message.')
  const [held, unread] = [bodies.hold(req, holder), bodies.hold(req, holder)]
  try {
    const body = await bodies.read(context, limits.MCP_MESSAGE_BYTES_MAX, held)
    if (checkJson(body) === 'scalar') throw new SoukError('invalid_request', 'A message must be a JSON object.')
    const message: unknown = JSON.parse(text(body))
    if (Array.isArray(message)) {
      checkBatch(message)
      for (const _ of message.slice(1)) count()
    }
    await answerCancellable({ ...context, unread }, agent, message, running, callerOf(req, holder))
  } finally {
    held.free()
    unread.free()
  }
}

/** Undefined for the public key without a session: its holders are different agents. */
function callerOf({ headers }: RequestContext['req'], { id, isPublic }: KeyHolder): string | undefined {
  const session = headers['mcp-session-id']
  return isPublic === true && session === undefined ? undefined : `${id} ${String(session)}`
}

async function answerCancellable(
  exchange: Exchange,
  agent: Agent,
  message: unknown,
  running: RunningCalls,
  caller: string | undefined
): Promise<void> {
  if (caller === undefined || !isJSONRPCRequest(message)) {
    const cancelled = cancelledBy(message)
    if (caller !== undefined && cancelled !== undefined) running.cancel(caller, cancelled)
    return answerAgent(exchange, agent, message)
  }
  const { signal, leave } = running.enter(caller, message.id)
  try {
    await answerAgent(exchange, agent, message, signal)
  } finally {
    leave()
  }
}

/** The first request of an agent, in former revisions of the protocol and in the current one. */
const OPENINGS: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/**
 * Responds by Streamable HTTP, in any revision of the protocol. Keeps no state that a response needs, so any node behind a load balancer can
 * respond. A disconnecting agent ends its call, also at the provider, and so does `cancelled`.
 */
export async function answerAgent(
  exchange: Exchange,
  agent: Agent,
  message: unknown,
  cancelled?: AbortSignal
): Promise<void> {
  if (isJSONRPCRequest(message) && OPENINGS.has(message.method)) agent.tools.prepare?.()
  const gone = whileConnected(exchange.res)
  const request = requestOf(exchange, cancelled === undefined ? gone : AbortSignal.any([gone, cancelled]))
  const takesEvents = exchange.req.headers.accept?.includes('text/event-stream') === true
  await send(exchange, await answerTo(request, message, takesEvents ? agent : withoutProgress(agent), takesEvents))
}

async function answerTo(request: Request, message: unknown, agent: Agent, takesEvents: boolean): Promise<Response> {
  if (await isLegacyRequest(request, message)) return answerFormer(request, message, agent, { takesEvents, makeId })
  // No change notifications: agents list tools again instead.
  const handler = createMcpHandler(() => agentServer(agent), { legacy: 'reject', maxSubscriptions: 0 })
  return handler.fetch(request, { parsedBody: message })
}

/** A notification would make the response a stream. */
function withoutProgress(agent: Agent): Agent {
  const { tools } = agent
  return { ...agent, tools: { list: tools.list.bind(tools), call: (call, signal) => tools.call(call, signal) } }
}

function makeId(): string {
  return Buffer.from(systemRandom.fill(new Uint8Array(16))).toString('base64url')
}

/** Omits the body, which was read before. */
function requestOf({ req }: Exchange, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    // The key stays here: later code does not need it.
    if (typeof value === 'string' && name !== 'authorization' && name !== 'x-consumer-key') headers.set(name, value)
  }
  // Clients that accept less get JSON.
  headers.set('accept', 'application/json, text/event-stream')
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal })
}

/** @throws SoukError `overloaded`, before the response has begun */
async function send({ req, res, headers, clock, unread }: Exchange, response: Response): Promise<void> {
  const { status, headers: given, body } = response
  const own = [...given].flat()
  if (res.destroyed) return
  if (body === null) {
    res.writeHead(status, [...headers, ...own]).end()
    return
  }
  if (given.get('content-type')?.startsWith('text/event-stream') !== true) {
    const whole = new Uint8Array(await response.arrayBuffer())
    if (res.destroyed) return
    unread?.take(whole.length)
    sendWhole({ req, res, clock, headers }, status, own, whole)
    return untilRead(res, clock, whole.length)
  }
  res.writeHead(status, [...headers, ...own]).flushHeaders()
  try {
    for await (const chunk of body) {
      unread?.take(chunk.length)
      if (!res.write(chunk)) await roomIn(res, clock)
      unread?.free()
    }
    res.end()
  } catch {
    // The agent disconnected, or reads too little, or the MCP handler failed.
    res.destroy()
  }
}
