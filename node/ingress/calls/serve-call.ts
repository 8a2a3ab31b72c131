import { asSoukError, checkJson, type HeldBytes, limits, SoukError } from '../../../lib/index.ts'
import type { ApiRef, CallReply } from '../../../lib/interface/index.ts'
import type { KeyPermit } from '../../keys/key-limiter.ts'
import type { Keys } from '../../keys/keys.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import { clientHost } from '../../http/host.ts'
import { isBatch, serveBatch } from './batch.ts'
import { admit, type CallRoute } from './call-route.ts'
import { hasBody, readStreamed, type StreamedBody } from './body.ts'
import { callAdmitted } from './key-call.ts'
import { keyMissing } from './keyless.ts'
import { sendProblem } from '../problem.ts'
import { discard, sendReply } from './reply.ts'
import type { CallDraft } from '../../call-draft.ts'
import { isJsonType, isPlain, readCall, readRef } from './request.ts'
import type { RequestContext } from '../request-context.ts'
import { whileConnected } from '../../http/while-connected.ts'

/** Replaces the ordinary response of a call. */
export interface Answering {
  /** Inspects the call before it is sent, and may change it. If this sends a response itself, the call is not made. */
  shape(call: CallDraft): void
  /** `settle` records the cost of the call before anything is sent. */
  answer(reply: CallReply, settle: () => void | Promise<void>): Promise<void>
}

/** Handles one call: checks the key, reads the request and its body, makes the call and sends the response. */
export async function serveCall(
  route: CallRoute,
  context: RequestContext,
  scope: string,
  name: string,
  answering?: Answering
): Promise<void> {
  const { req, res } = context
  const signal = whileConnected(res)
  let streamed: StreamedBody | undefined
  let held: HeldBytes | undefined
  let permit: KeyPermit | undefined
  try {
    const isKeyless = route.keyless !== undefined && (req.headers['x-consumer-key'] ?? '') === ''
    const payment = isKeyless ? await paymentOf(route, context, () => readRef(scope, name), signal) : undefined
    const found = payment === undefined ? holderOf(route, context) : undefined
    const holder = found instanceof Promise ? await found : found
    const api = readRef(scope, name)
    if (holder !== undefined) admit(route, context, holder, api)
    const call = readCall(req, api)
    if (payment !== undefined) call.payment = payment
    call.signal = signal
    call.requestId = context.requestId
    // Refuse a call here before reading its body.
    const { rate } = (permit = route.keyLimiter.enter(holder, clientHost(req, route.trustProxy)))
    const holding = (held = route.bodies.hold(req, holder))
    // The body of an unauthenticated caller is buffered before its payment is verified.
    const most = holder === undefined ? limits.REQUEST_BYTES_MAX : Infinity
    if (isJsonType(req.headers['content-type']) || !hasBody(req)) {
      const body = await route.bodies.read(context, Math.min(route.requestBytesMax, most), holding)
      const shape = body.length === 0 ? undefined : checkJson(body)
      if (shape === 'array' && isPlain(call) && answering === undefined && (await isBatch(route, call))) {
        return await serveBatch(route, context, { call, holder, body, held: holding })
      }
      if (isPlain(call)) checkObject(body, shape)
      call.body = body
    } else {
      call.body = streamed = readStreamed(context, Math.min(route.uploadBytesMax, most))
    }
    answering?.shape(call)
    if (res.writableEnded) return
    await callAdmitted(route, holder, call, (reply, settle) => {
      if (payment !== undefined) route.unauthenticated.giveBack(req)
      // The client may repeat the call later and gets this response uncharged.
      if (res.destroyed && call.idempotencyKey !== undefined) return leave(reply, settle)
      if (answering !== undefined) return answering.answer(reply, settle)
      return sendReply(context, reply, { settle, keyRate: rate, held: holding })
    })
  } catch (error) {
    // Without a client there is nobody to send the error to.
    if (!res.destroyed) sendFailure(route, context, streamed?.failure ?? error, () => readRef(scope, name))
  } finally {
    held?.free()
    permit?.leave()
  }
}

function sendFailure({ keyless }: CallRoute, context: RequestContext, thrown: unknown, api: () => ApiRef): void {
  const error = asSoukError(thrown)
  const isOffer = keyless !== undefined && error.status === 402
  sendProblem(context, error, undefined, isOffer ? keyless.challenge(context, api(), error) : [])
}

/** @throws SoukError `rate_limited`, and as `Keyless.paymentFor` */
async function paymentOf(
  { keyless, unauthenticated }: CallRoute,
  { req }: RequestContext,
  api: () => ApiRef,
  signal: AbortSignal
): Promise<string | undefined> {
  // Count a call with a payment too, until its provider accepts the payment.
  unauthenticated.count(req)
  return keyless?.paymentFor(req, api(), signal)
}

/** Records the cost of a call whose client disconnected. */
async function leave({ body }: CallReply, settle: () => void | Promise<void>): Promise<void> {
  discard(body)
  await settle()
}

/** As `Keys.verify`. @throws SoukError `rate_limited`, and as `checkKey` */
function holderOf({ keys, unauthenticated }: CallRoute, { req }: RequestContext): KeyHolder | Promise<KeyHolder> {
  const refuse = (error: unknown): never => {
    unauthenticated.count(req)
    throw error
  }
  try {
    const found = verify(keys, req.headers['x-consumer-key'])
    return found instanceof Promise ? found.catch(refuse) : found
  } catch (error) {
    return refuse(error)
  }
}

/** @throws SoukError `key_missing`, and as `Keys.verify` */
export async function checkKey(keys: Pick<Keys, 'verify'>, key: string | string[] | undefined): Promise<KeyHolder> {
  return verify(keys, key)
}

function verify(keys: Pick<Keys, 'verify'>, key: string | string[] | undefined): ReturnType<Keys['verify']> {
  if (typeof key !== 'string' || key === '') throw keyMissing()
  return keys.verify(key)
}

/** @throws SoukError `invalid_request` */
function checkObject(body: Uint8Array, shape = checkJson(body)): void {
  if (shape !== 'object') {
    throw new SoukError('invalid_request', `The body is a JSON ${shape}. Send a JSON object.`)
  }
}
