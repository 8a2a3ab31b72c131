import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  ListResourcesResult,
  ReadResourceResult,
  Tool
} from '@modelcontextprotocol/server'

/** A tool call by an agent. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Metadata beside the arguments: `dev.souk/…`, and a trace context. */
  readonly meta: Readonly<Record<string, unknown>>
}

/** Receives the number of items of a stream so far, and the newest ones as text. */
export type OnProgress = (items: number, newest: string) => Promise<void>

/** The tools of an agent. */
export interface ToolBox {
  /** Starts to make the list, which an agent asks for after it has connected. */
  prepare?(): void
  list(signal: AbortSignal): Promise<readonly Tool[]>
  /**
   * Returns errors as results, because a model can act on them.
   * @param onProgress - for the items of a stream as they arrive, before the result
   */
  call(call: ToolCall, signal: AbortSignal, onProgress?: OnProgress): Promise<CallToolResult>
}

/** The documents that an agent can read. All methods here throw ProtocolError and SoukError. */
export interface ResourceBox {
  list(cursor: string | undefined, signal: AbortSignal): Promise<ListResourcesResult>
  /** @throws ResourceNotFoundError */
  read(uri: string, signal: AbortSignal): Promise<ReadResourceResult>
}

/** Prompts, and suggestions for arguments. */
export interface PromptBox {
  get(name: string, given: Readonly<Record<string, string>>, signal: AbortSignal): Promise<GetPromptResult>
  complete(asked: CompleteRequestParams, signal: AbortSignal): Promise<CompleteResult['completion']>
}

/** All that an agent gets. */
export interface Agent {
  readonly tools: ToolBox
  readonly resources: ResourceBox
  readonly prompts: PromptBox
  /** Receives unexpected errors, which the agent does not see. */
  readonly onFault?: (cause: unknown) => void
}
