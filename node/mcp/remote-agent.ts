import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type CompleteResult,
  type GetPromptResult,
  type ListResourcesResult,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Tool
} from '@modelcontextprotocol/server'
import { packageVersion } from '../config.ts'
import type { Agent, OnProgress, PromptBox, ResourceBox, ToolBox, ToolCall } from './agent.ts'
import { eventSplitter } from './stream-items.ts'
import { text } from './tool-result.ts'
import { isObject } from './tool-schema.ts'

const REVISION = '2026-07-28'
/** Values that a header can carry. */
const HEADER_VALUE = /^[!-~]+$/
/** Metadata of the protocol itself applies to one connection only, so it is not forwarded. */
const OF_PROTOCOL = 'io.modelcontextprotocol/'
const PROGRESS_TOKEN = 1
const MAY_COST =
  'A paid call may have been made and charged. A repeat costs again, except by souk_call with the idempotency_key of the first call.'

/**
 * Sends a message to a node’s endpoint. @throws an error to report if the node does not respond; with the code `node_not_running` if nothing
 * was sent
 */
export type Post = (body: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>

type Params = Readonly<Record<string, unknown>>

/** What a remote node offers. Each query is one message of the protocol. */
export class RemoteAgent implements Agent {
  readonly #post: Post

  readonly tools: ToolBox = {
    list: async (signal) => (await this.#ask('tools/list', {}, signal)).tools as readonly Tool[],
    call: (call, signal, onProgress) => this.#call(call, signal, onProgress)
  }

  readonly resources: ResourceBox = {
    list: async (cursor, signal) =>
      (await this.#ask('resources/list', cursor === undefined ? {} : { cursor }, signal)) as ListResourcesResult,
    read: async (uri, signal) => {
      if (!HEADER_VALUE.test(uri)) throw new ResourceNotFoundError(uri)
      return (await this.#ask('resources/read', { uri }, signal, uri)) as ReadResourceResult
    }
  }

  readonly prompts: PromptBox = {
    get: async (name, given, signal) => {
      if (!HEADER_VALUE.test(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such prompt.')
      return (await this.#ask('prompts/get', { name, arguments: given }, signal, name)) as GetPromptResult
    },
    complete: async ({ ref, argument, context }, signal) => {
      const asked = { ref, argument, ...(context === undefined ? {} : { context }) }
      return ((await this.#ask('completion/complete', asked, signal)) as CompleteResult).completion
    }
  }

  constructor(post: Post) {
    this.#post = post
  }

  async #call(
    { name, arguments: given, meta }: ToolCall,
    signal: AbortSignal,
    onProgress?: OnProgress
  ): Promise<CallToolResult> {
    if (!HEADER_VALUE.test(name)) return failed('There is no tool with this name.')
    try {
      const token = onProgress === undefined ? {} : { progressToken: PROGRESS_TOKEN }
      const asked = { name, arguments: given, _meta: { ...unbound(meta), ...token } }
      const result = await this.#ask('tools/call', asked, signal, name, onProgress)
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

  /** @param name - of the tool, resource or prompt */
  async #ask(
    method: string,
    params: Params,
    signal: AbortSignal,
    name?: string,
    onProgress?: OnProgress
  ): Promise<Params> {
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
        ...(name === undefined ? {} : { 'mcp-name': name })
      },
      signal
    ).catch((error: unknown) => {
      throw lost(error, method)
    })
    const answer = await answerOf(response, onProgress).catch(() => {
      throw lost(new Error('The connection to the node ended before its response.'), method)
    })
    if (!isObject(answer)) throw refused(`The node responded with ${response.status} and no MCP message.`)
    // A node responds with a problem document if it cannot read the message.
    if (typeof answer['detail'] === 'string') throw refused(answer['detail'])
    const { error, result } = answer
    if (isObject(result)) {
      // Says the kind of result to one connection only, like the metadata of the protocol.
      const { resultType: _, _meta: about, ...rest } = result
      return isObject(about) ? { ...rest, _meta: unbound(about) } : rest
    }
    if (!isObject(error)) throw refused(`The node responded with ${response.status}.`)
    throw ProtocolError.fromError(Number(error['code']), String(error['message']), error['data'])
  }
}

/** The final message of a response, which may come as a stream after notifications. */
async function answerOf(response: Response, onProgress: OnProgress | undefined): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('text/event-stream')) return response.json().catch(() => undefined)
  const split = eventSplitter()
  for await (const chunk of response.body ?? []) {
    for (const event of split(chunk)) {
      const message: unknown = JSON.parse(event)
      if (!isObject(message)) continue
      if (message['id'] !== undefined) return message
      const { method, params } = message
      if (method !== 'notifications/progress' || !isObject(params)) continue
      const { progress, message: newest } = params
      if (typeof progress === 'number') await onProgress?.(progress, typeof newest === 'string' ? newest : '')
    }
  }
  return undefined
}

function unbound(meta: Params): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(meta).filter(([name]) => !name.startsWith(OF_PROTOCOL) && name !== 'progressToken')
  )
}

/** No response arrived. An agent would repeat a paid call, so it is told what that may cost. */
function lost(error: unknown, method: string): ProtocolError {
  if (!(error instanceof Error)) return refused('The node did not respond.')
  const { code, hint } = error as { readonly code?: unknown; readonly hint?: unknown }
  const isUnknown = method === 'tools/call' && code !== 'node_not_running'
  const next = typeof hint === 'string' ? ` Ask your user to try: ${hint}.` : ''
  return refused(`${error.message}${isUnknown ? ` ${MAY_COST}` : ''}${next}`)
}

function refused(detail: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InternalError, detail)
}

function failed(detail: string): CallToolResult {
  return { isError: true, content: [text(detail)] }
}
