import { BaseError, createClient, http } from 'viem'
import { CHAIN_BATCH_MAX, CHAIN_REQUEST_MS, CHAIN_SINGLE_REQUESTS } from '../../base/limits/chain.ts'
import { SECRET_CHARS_MIN } from '../../base/limits/descriptions.ts'
import { SoukError } from '../../base/errors.ts'
import { endpointFault, mayRefuseBatches } from './endpoint-fault.ts'

/** Sends a request to a chain's endpoint. The result is not validated. @throws viem's errors */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>

/**
 * Batches the requests of one event-loop turn, but sends the next ones alone once the endpoint has refused a batch. Retries a failed
 * request once; every method used here is safe to repeat.
 */
export function rpcOf(url: string): Rpc {
  const hide = hiding(url)
  const sending = (batch: boolean | { readonly batchSize: number }) => {
    const transport = http(url, { batch, timeout: CHAIN_REQUEST_MS, retryCount: 1 })
    const client = createClient({ transport })
    return (method: string, params: readonly unknown[]) =>
      client.request<{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }>({ method, params })
  }
  const sendAlone = sending(false)
  const sendTogether = sending({ batchSize: CHAIN_BATCH_MAX })
  let alone = 0
  const send: Rpc = async (method, params) => {
    if (alone > 0) {
      alone--
      return sendAlone(method, params)
    }
    try {
      return await sendTogether(method, params)
    } catch (error) {
      if (!mayRefuseBatches(error)) throw error
      const result = await sendAlone(method, params)
      alone = CHAIN_SINGLE_REQUESTS
      return result
    }
  }
  return (method, params) =>
    send(method, params).catch((error: unknown) => {
      throw hide(error)
    })
}

/**
 * Removes the endpoint's access key from an error and its causes. viem quotes the URL, and a failing endpoint may repeat it in
 * its response.
 */
function hiding(url: string): (error: unknown) => unknown {
  const { username = '', password = '', pathname = '', searchParams = new URLSearchParams() } = URL.parse(url) ?? {}
  const parts = [username, password, ...pathname.split('/'), ...searchParams.values()]
  const secrets = [...parts, ...parts.map(decoded)].filter((part) => part.length >= SECRET_CHARS_MIN)
  const hidden = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '…'), text)
  return (error) => {
    for (let at = error; at instanceof Error; at = at.cause) {
      at.message = hidden(at.message)
      if (at.stack !== undefined) at.stack = hidden(at.stack)
      if (!(at instanceof BaseError)) continue
      at.shortMessage = hidden(at.shortMessage)
      at.details = hidden(at.details)
    }
    return error
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Runs a request and parses its response. Every failure counts as the endpoint's. */
export async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof SoukError) throw error
    throw new SoukError('settlement_unavailable', endpointFault(error), { cause: plain(error) })
  }
}

/** Drops the endpoint's URL, which viem's errors quote and which may hold an access key. */
function plain(error: unknown): unknown {
  return error instanceof BaseError ? new Error(`${error.shortMessage} ${error.details}`) : error
}

/** The endpoint's JSON-RPC error for a request that it understood; undefined if there was none. */
export function refusal(error: unknown): { readonly message: string; readonly data: unknown } | undefined {
  if (!(error instanceof BaseError)) return undefined
  const answer = error.walk((inner) => inner instanceof Error && inner.name === 'RpcRequestError')
  if (!(answer instanceof BaseError)) return undefined
  return { message: answer.details, data: 'data' in answer ? answer.data : undefined }
}
