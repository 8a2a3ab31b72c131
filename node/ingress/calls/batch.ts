import { asSoukError, checkJson, formatUsdc, type HeldBytes, limits, SoukError, utf8 } from '../../../lib/index.ts'
import type { CallReply, Payload } from '../../../lib/interface/index.ts'
import type { CallDraft } from '../../call-draft.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import { sendHeld } from './reply.ts'
import type { RequestContext } from '../request-context.ts'
import { jsonElements } from './json-elements.ts'
import { callAdmitted, callWithKey, refOf } from './key-call.ts'
import { isJsonType } from './request.ts'
import { admit, type CallRoute } from './call-route.ts'

/** One request with a JSON array of GraphQL operations, as Apollo's BatchHttpLink and graphql-request send it. */
export interface Batch {
  /** The request that the array came in. Its own call has a permit already. */
  readonly call: CallDraft
  readonly holder: KeyHolder | undefined
  readonly body: Uint8Array
  readonly held: HeldBytes
}

/** Whether the array is a batch: an API of another protocol takes none. */
export async function isBatch({ souk }: CallRoute, { api, signal }: CallDraft): Promise<boolean> {
  const { signed } = await souk.resolve(api, signal === undefined ? {} : { signal })
  return signed.manifest.protocol === 'GraphQL'
}

/**
 * Runs each operation as a call of its own: with its own price, limits and result. The response has the results in the order of
 * the operations; one that failed has `errors`.
 * @throws SoukError `invalid_request`
 */
export async function serveBatch(route: CallRoute, context: RequestContext, batch: Batch): Promise<void> {
  const operations = jsonElements(batch.body)
  checkBatch(batch, operations.length)
  const results: Uint8Array[] = []
  let charged = 0n
  let next = 0
  const run = async () => {
    while (next < operations.length) {
      const at = next++
      const operation = operations[at] ?? ''
      results[at] = await resultOf(route, context, batch, at, operation).then(
        (done) => {
          charged += done.charged
          return done.body
        },
        (error: unknown) => failed(error)
      )
    }
  }
  await Promise.all(Array.from({ length: limits.GRAPHQL_BATCH_AT_ONCE }, run))
  if (context.res.destroyed) return
  const body = Buffer.concat([...results.flatMap((result, at) => [utf8(at === 0 ? '[' : ','), result]), utf8(']')])
  const headers = ['Content-Type', 'application/json; charset=utf-8', 'Souk-Charged', formatUsdc(charged)]
  await sendHeld(context, 200, headers, body)
}

function checkBatch({ holder, call: { idempotencyKey = '' } }: Batch, operations: number): void {
  if (holder === undefined) throw refuse('A batch needs a consumer key, because a payment pays for one call.')
  const most = limits.GRAPHQL_BATCH_OPERATIONS_MAX
  if (operations === 0 || operations > most) throw refuse(`A batch has 1 to ${most} operations.`)
  if (keyOf(idempotencyKey, operations).length > limits.IDEMPOTENCY_KEY_CHARS_MAX) {
    throw refuse('The Idempotency-Key is too long for a batch: each operation gets it with its number.')
  }
}

async function resultOf(
  route: CallRoute,
  context: RequestContext,
  { call, holder, held }: Batch,
  at: number,
  operation: string
): Promise<{ readonly body: Uint8Array; readonly charged: bigint }> {
  // The result is paid for when it comes, so refuse the operation before it runs.
  held.check(limits.INLINE_BODY_BYTES_MAX)
  const { signal = new AbortController().signal } = call
  const accepting = (call.headers ?? []).filter(([name]) => name !== 'accept')
  const one: CallDraft = { ...call, body: utf8(operation), headers: [...accepting, ['accept', 'application/json']] }
  if (call.idempotencyKey !== undefined) one.idempotencyKey = keyOf(call.idempotencyKey, at)
  const deliver = async (reply: CallReply, settle: () => void | Promise<void>) => {
    const body = await wholeOf(reply.body, held, signal)
    checkResult(reply, body)
    await settle()
    return { body, charged: reply.charged }
  }
  if (at === 0) return callAdmitted(route, holder, one, deliver)
  // Each call has an id of its own. The first one has that of the request.
  delete one.requestId
  if (holder !== undefined) admit(route, context, holder, refOf(call.api))
  return callWithKey(route, holder, one, deliver)
}

function keyOf(key: string, at: number): string {
  return key === '' ? '' : `${key}/${at}`
}

/** Memory of a chunk besides its bytes. */
const CHUNK_BYTES = 200

/**
 * Waits for memory, because the result is paid for.
 * @throws SoukError `response_too_large`; the reason of `signal`
 */
async function wholeOf(body: Payload, held: HeldBytes, signal: AbortSignal): Promise<Uint8Array> {
  if (body instanceof Uint8Array) {
    await held.wait(body.length, signal)
    return body
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > limits.RESPONSE_BYTES_MAX) throw new SoukError('response_too_large')
    await held.wait(chunk.length + CHUNK_BYTES, signal)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** @throws SoukError if the API did not return JSON, which the array needs. Then nothing is recorded. */
function checkResult({ status, headers }: CallReply, body: Uint8Array): void {
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  try {
    const isJson = isJsonType(type) || type?.startsWith('application/graphql-response+json') === true
    if (isJson && checkJson(body) === 'object') return
  } catch {
    // The error below covers this case.
  }
  throw new SoukError('upstream_invalid_response', `The API responded with HTTP ${status} and no GraphQL result.`)
}

/** A call that failed, in the form of GraphQL. */
export function errorOf(thrown: unknown): { readonly message: string; readonly extensions: { readonly code: string } } {
  const { message, code } = asSoukError(thrown)
  return { message, extensions: { code } }
}

function failed(error: unknown): Uint8Array {
  return utf8(JSON.stringify({ errors: [errorOf(error)] }))
}

function refuse(detail: string): SoukError {
  return new SoukError('invalid_request', detail)
}
