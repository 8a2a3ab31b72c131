import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type RequestId
} from '@modelcontextprotocol/server'
import { asSoukError, checkJson, limits, SoukError, text } from '../../lib/index.ts'
import { cancelledBy, checkBatch } from './batch.ts'

const NEWLINE = 0x0a

/** A batch whose responses are not complete. */
interface Batch {
  readonly waiting: Set<RequestId>
  readonly responses: JSONRPCMessage[]
}

/**
 * The messages of an agent on stdin, one on each line. A line that is none, or a batch, would get no response by the transport of the
 * MCP library, and the agent would wait for one.
 */
export class StdioMessages {
  readonly #write: (json: string) => void
  readonly #batches = new Map<RequestId, Batch>()

  /** @param write - sends one line to the agent */
  constructor(write: (json: string) => void) {
    this.#write = write
  }

  /** The messages, each with its end of line. @throws SoukError `request_too_large` */
  async *read(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
    for await (const line of linesOf(input)) {
      for (const message of this.#messagesIn(line)) yield `${JSON.stringify(message)}\n`
    }
  }

  /** Whether the message is a response to a request of a batch. Then it is sent with the others. */
  holds(message: JSONRPCMessage): boolean {
    const batch = isJSONRPCResponse(message) && message.id !== undefined ? this.#batches.get(message.id) : undefined
    if (batch === undefined || !isJSONRPCResponse(message)) return false
    batch.responses.push(message)
    this.#settle(message.id as RequestId, batch)
    return true
  }

  #messagesIn(line: Uint8Array): unknown[] {
    const message = this.#parsed(line)
    if (!Array.isArray(message)) return this.#isMessage(message) ? this.#forgetCancelled(message) : []
    try {
      if (message.length === 0) throw new SoukError('invalid_request', 'The batch is empty.')
      checkBatch(message)
    } catch (error) {
      this.#refuse(ProtocolErrorCode.InvalidRequest, asSoukError(error).message)
      return []
    }
    const messages: unknown[] = message.filter((each) => this.#isMessage(each))
    const waiting = new Set(messages.flatMap((each) => (isJSONRPCRequest(each) ? [each.id] : [])))
    const batch = { waiting, responses: [] }
    for (const id of waiting) this.#batches.set(id, batch)
    return messages.flatMap((each) => this.#forgetCancelled(each))
  }

  /** Undefined for an empty line, and for one that was refused. */
  #parsed(line: Uint8Array): unknown {
    if (line.length === 0) return undefined
    try {
      checkJson(line)
      return JSON.parse(text(line))
    } catch (error) {
      this.#refuse(ProtocolErrorCode.ParseError, `The line is not JSON. ${asSoukError(error).message}`)
      return undefined
    }
  }

  #isMessage(message: unknown): boolean {
    if (message === undefined) return false
    if (isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message)) return true
    const { id } = (message ?? {}) as { readonly id?: unknown }
    const known = typeof id === 'string' || typeof id === 'number' ? id : null
    this.#refuse(ProtocolErrorCode.InvalidRequest, 'The line is not a JSON-RPC 2.0 message.', known)
    return false
  }

  /** A cancelled request gets no response, so its batch must not wait for it. */
  #forgetCancelled(message: unknown): unknown[] {
    const id = cancelledBy(message)
    const batch = id === undefined ? undefined : this.#batches.get(id)
    if (id !== undefined && batch !== undefined) this.#settle(id, batch)
    return [message]
  }

  #settle(id: RequestId, { waiting, responses }: Batch): void {
    waiting.delete(id)
    this.#batches.delete(id)
    if (waiting.size === 0 && responses.length > 0) this.#write(JSON.stringify(responses))
  }

  #refuse(code: number, message: string, id: RequestId | null = null): void {
    this.#write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
  }
}

/** Lines without their end. @throws SoukError `request_too_large` for one over `MCP_STDIO_BYTES_MAX` */
async function* linesOf(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const most = limits.MCP_STDIO_BYTES_MAX
  let parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    let rest: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)])
      rest = rest.subarray(end + 1)
      parts = []
      bytes = 0
      if (line.length > most) throw tooLarge(most)
      yield line.at(-1) === 0x0d ? line.subarray(0, -1) : line
    }
    parts.push(rest)
    bytes += rest.length
    if (bytes > most) throw tooLarge(most)
  }
}

function tooLarge(most: number): SoukError {
  return new SoukError('request_too_large', `The agent sent a message of more than ${most} bytes.`)
}
