import { checkJson, type HeldBytes, limits, SoukError } from '../../../lib/index.ts'
import type { ApiRef, CallReply } from '../../../lib/interface/index.ts'
import type { KeyPermit } from '../../keys/key-limiter.ts'
import type { Keys } from '../../keys/keys.ts'
import { permitted } from '../../keys/scope.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import { clientHost } from '../../http/host.ts'
import type { BodyReader } from './body-reader.ts'
import { hasBody, readStreamed, type StreamedBody } from './body.ts'
import { callAdmitted, type KeyCalls } from './key-call.ts'
import { type Keyless, keyMissing } from './keyless.ts'
import { sendProblem } from '../problem.ts'
import type { PerIp } from '../per-ip.ts'
import { discard, sendReply } from './reply.ts'
import type { CallDraft } from '../../call-draft.ts'
import { isJsonType, isPlain, readCall, readRef } from './request.ts'
import type { RequestContext } from '../request-context.ts'
import { whileConnected } from '../../http/while-connected.ts'

export interface CallRoute extends KeyCalls {
  readonly keys: Pick<Keys, 'verify' | 'nameFor'>
  /** Requests that come without a key, or with one that is none. */
  readonly unauthenticated: PerIp
  /** Calls without a key, where they are taken. */
  readonly keyless?: Keyless
  /** Counts those with the key that everybody has, by host. */
  readonly demoCalls: Pick<PerIp, 'count'>
  readonly requestBytesMax: number
  /** Of a body that is passed on as it arrives. */
  readonly uploadBytesMax: number
  readonly bodies: BodyReader
  /** The proxy in front of this node says who the client is. */
  readonly trustProxy: boolean
}

/** Where a call is not answered as it comes. */
export interface Answering {
  /** Looks at the call before it is sent, and may change it. Where it answers itself, the call is not made. */
  shape(call: CallDraft): void
  /** `settle` books what the call cost, before anything is sent. */
  answer(reply: CallReply, settle: () => void | Promise<void>): Promise<void>
}

/** The way of one call through the ingress: key, request, body, overlay, answer. */
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
    const payment = await paymentOf(route, context, () => readRef(scope, name), signal)
    const holder = payment === undefined ? await holderOf(route, context) : undefined
    if (holder !== undefined) admit(route, context, holder, readRef(scope, name))
    const call = readCall(req, scope, name)
    if (payment !== undefined) call.payment = payment
    call.signal = signal
    call.requestId = context.requestId
    // A call that is refused here is refused before its body is read.
    const { rate } = (permit = route.keyLimiter.enter(holder, clientHost(req, route.trustProxy)))
    const holding = (held = route.bodies.hold(req, holder))
    // A stranger's body is held before anybody has looked at his payment.
    const most = holder === undefined ? limits.REQUEST_BYTES_MAX : Infinity
    if (isJsonType(req.headers['content-type']) || !hasBody(req)) {
      const body = await route.bodies.read(context, Math.min(route.requestBytesMax, most), holding)
      checkJsonBody(call, body)
      call.body = body
    } else {
      call.body = streamed = readStreamed(context, Math.min(route.uploadBytesMax, most))
    }
    answering?.shape(call)
    if (res.writableEnded) return
    await callAdmitted(route, holder, call, async (reply, settle) => {
      if (payment !== undefined) route.unauthenticated.giveBack(req)
      // What it will be answered with then is not charged again.
      if (res.destroyed && call.idempotencyKey !== undefined) return leave(reply, settle)
      if (answering !== undefined) return answering.answer(reply, settle)
      return sendReply(context, reply, { settle, keyRate: rate, held: holding })
    })
  } catch (error) {
    // Nobody is there to be told; what the call made of its abort is no news.
    if (!res.destroyed) sendProblem(context, streamed?.failure ?? error)
  } finally {
    held?.free()
    permit?.leave()
  }
}

/**
 * What is asked of a key before anything else is looked at.
 * @throws SoukError `key_not_permitted`, `name_conflict`, `rate_limited` (a key that everybody has)
 */
export function admit(
  { demoCalls }: Pick<CallRoute, 'demoCalls'>,
  { req }: RequestContext,
  holder: KeyHolder,
  api: ApiRef
): ApiRef {
  const asked = permitted(holder, api)
  if (holder.isPublic === true) demoCalls.count(req)
  return asked
}

/** @throws SoukError `rate_limited`, and as `Keyless.paymentFor` */
async function paymentOf(
  { keyless, unauthenticated }: CallRoute,
  { req }: RequestContext,
  api: () => ApiRef,
  signal: AbortSignal
): Promise<string | undefined> {
  const isKeyless = keyless !== undefined && (req.headers['x-consumer-key'] ?? '') === ''
  if (!isKeyless) return undefined
  // With a payment as well, until it proves to be one: only its owner can tell.
  unauthenticated.count(req)
  return keyless.paymentFor(req, api(), signal)
}

/** Nobody is there to be answered. */
async function leave({ body }: CallReply, settle: () => void | Promise<void>): Promise<void> {
  discard(body)
  await settle()
}

/** @throws SoukError `rate_limited`, and as `checkKey` */
async function holderOf({ keys, unauthenticated }: CallRoute, { req }: RequestContext): Promise<KeyHolder> {
  try {
    return await checkKey(keys, req.headers['x-consumer-key'])
  } catch (error) {
    unauthenticated.count(req)
    throw error
  }
}

/** @throws SoukError `key_missing`, and as `Keys.verify` */
export async function checkKey(keys: Pick<Keys, 'verify'>, key: string | string[] | undefined): Promise<KeyHolder> {
  if (typeof key !== 'string' || key === '') {
    throw keyMissing()
  }
  return keys.verify(key)
}

/** The bytes travel as they were sent; they are only looked at. @throws SoukError `invalid_request` */
function checkJsonBody(call: CallDraft, body: Uint8Array): void {
  if (body.length === 0 && !isPlain(call)) return
  const shape = checkJson(body)
  if (isPlain(call) && shape !== 'object') {
    throw new SoukError('invalid_request', `The body is a JSON ${shape}; a call takes a JSON object.`)
  }
}
