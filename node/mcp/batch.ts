import { isJSONRPCNotification, isJSONRPCRequest, type RequestId } from '@modelcontextprotocol/server'
import { limits, SoukError } from '../../lib/index.ts'

/** The responses to a batch are in memory together, and a list may have some megabytes. @throws SoukError `invalid_request` */
export function checkBatch(messages: readonly unknown[]): void {
  if (messages.length > limits.MCP_BATCH_MAX)
    throw new SoukError('invalid_request', `A batch may have at most ${limits.MCP_BATCH_MAX} messages.`)
  const lists = messages.flatMap((each) =>
    isJSONRPCRequest(each) && each.method.endsWith('/list') ? [each.method] : []
  )
  const twice = lists.find((method, at) => lists.indexOf(method) < at)
  if (twice !== undefined) throw new SoukError('invalid_request', `A batch may have only one request for ${twice}.`)
  // A cancelled request gets no response, and the batch would wait for it.
  const cancelled = new Set(messages.flatMap((each) => cancelledBy(each) ?? []))
  if (messages.some((each) => isJSONRPCRequest(each) && cancelled.has(each.id))) {
    throw new SoukError('invalid_request', 'A batch may not cancel a request of its own.')
  }
}

/** The id of the request that a message cancels; undefined for other messages. */
export function cancelledBy(message: unknown): RequestId | undefined {
  if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.['requestId']
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}
