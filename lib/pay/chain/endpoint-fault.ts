import { BaseError, HttpRequestError, RpcRequestError } from 'viem'

/** The response of an endpoint that returns no result. */
interface FailedResponse {
  /** Of HTTP; undefined if it is 2xx, or if there was no response. */
  readonly status: number | undefined
  /** The code and the text of its JSON-RPC error. */
  readonly code: number | undefined
  readonly text: string
}

/** The words of common providers. Their codes differ. */
const LIMITED =
  /rate.?limit|too many requests|requests? limit|limit (?:exceeded|reached)|quota|capacity|credits|per second/i
const LIMIT_CODES: ReadonlySet<number | undefined> = new Set([429, -32005, -32007, -32016, -32029])
const NO_HISTORY = /missing trie node|historical|archive|pruned|state .*not available/i
const NO_METHOD = /method.*(?:not found|not supported|not available|does not exist)|unsupported method/i
const METHOD_CODES: ReadonlySet<number | undefined> = new Set([-32601, -32004])

export const STATE_LOST = 'The chain endpoint has lost the state of final blocks. Use one that keeps it.'

/** Why an endpoint does not do what it is asked for: a sentence that says what its operator can change. */
export function endpointFault(error: unknown): string {
  const { status, code, text } = responseIn(error)
  if (status === 429 || status === 402 || LIMIT_CODES.has(code) || LIMITED.test(text)) {
    return 'The chain endpoint allows no more requests at the moment. Use one with a higher limit.'
  }
  if (NO_HISTORY.test(text)) return STATE_LOST
  if (METHOD_CODES.has(code) || NO_METHOD.test(text)) return 'The chain endpoint lacks a method that is needed.'
  if (status === 401 || status === 403) return 'The chain endpoint rejects the access key in its URL, or this machine.'
  if (status === 404 || status === 405) return 'There is no chain endpoint at this URL.'
  return 'The chain endpoint does not respond. Try again later.'
}

/** Statuses with which endpoints refuse a batch without saying so. */
const BATCH_STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 500, 501])

/** True if the endpoint may respond to single requests only, or to smaller batches. */
export function mayRefuseBatches(error: unknown): boolean {
  const { status, text } = responseIn(error)
  return BATCH_STATUSES.has(status) || /\bbatch/i.test(text)
}

function responseIn(error: unknown): FailedResponse {
  const found =
    error instanceof BaseError
      ? error.walk((inner) => inner instanceof RpcRequestError || inner instanceof HttpRequestError)
      : undefined
  if (found instanceof RpcRequestError) return { status: found.status, code: found.code, text: found.details }
  if (found instanceof HttpRequestError) return { status: found.status, code: undefined, text: found.details }
  return { status: undefined, code: undefined, text: '' }
}
