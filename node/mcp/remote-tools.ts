import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Tool
} from '@modelcontextprotocol/server'
import { packageVersion } from '../config.ts'
import { text } from './tool-result.ts'
import type { ToolBox, ToolCall } from './agent-server.ts'
import { isObject } from './tool-schema.ts'

const REVISION = '2026-07-28'
const TOOL_NAME = /^[a-zA-Z0-9_-]+$/
/** Metadata of the protocol itself applies to one connection only, so it is not forwarded. */
const OF_PROTOCOL = 'io.modelcontextprotocol/'

/** Sends a message to a node’s endpoint. @throws an error to report if the node does not respond */
export type Post = (body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>

/** The tools of a remote node. Each query is one message of the protocol. */
export class RemoteTools implements ToolBox {
  readonly #post: Post

  constructor(post: Post) {
    this.#post = post
  }

  async list(signal: AbortSignal): Promise<readonly Tool[]> {
    const { tools } = await this.#ask('tools/list', {}, {}, signal)
    return tools as readonly Tool[]
  }

  async call({ name, arguments: given, meta }: ToolCall, signal: AbortSignal): Promise<CallToolResult> {
    if (!TOOL_NAME.test(name)) return failed('There is no tool with this name.')
    try {
      const asked = { name, arguments: given, _meta: unbound(meta) }
      const result = await this.#ask('tools/call', asked, { 'mcp-name': name }, signal)
      const { content, structuredContent, isError, _meta: beside } = result as CallToolResult
      return {
        content,
        ...(isObject(structuredContent) ? { structuredContent } : {}),
        ...(isError === undefined ? {} : { isError }),
        ...(beside === undefined ? {} : { _meta: unbound(beside) })
      }
    } catch (error) {
      return failed(error instanceof Error ? error.message : 'The node did not respond.')
    }
  }

  async #ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal
  ): Promise<Readonly<Record<string, unknown>>> {
    const beside = {
      ...(params['_meta'] as object | undefined),
      [PROTOCOL_VERSION_META_KEY]: REVISION,
      [CLIENT_INFO_META_KEY]: { name: 'souk', version: packageVersion() },
      [CLIENT_CAPABILITIES_META_KEY]: {}
    }
    const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: beside } }
    const response = await this.#post(
      JSON.stringify(message),
      {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': REVISION,
        'mcp-method': method,
        ...headers
      },
      signal
    )
    const answer: unknown = await response.json().catch(() => undefined)
    if (!isObject(answer)) throw refused(`The node responded with ${response.status} and no MCP message.`)
    // A node responds with a problem document if it cannot read the message.
    if (typeof answer['detail'] === 'string') throw refused(answer['detail'])
    const { error, result } = answer
    if (isObject(result)) return result
    throw refused(isObject(error) ? String(error['message']) : `The node responded with ${response.status}.`)
  }
}

function unbound(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(meta).filter(([name]) => !name.startsWith(OF_PROTOCOL) && name !== 'progressToken')
  )
}

function refused(detail: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, detail)
}

function failed(detail: string): CallToolResult {
  return { isError: true, content: [text(detail)] }
}
