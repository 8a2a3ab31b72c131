import { SoukError } from '../../lib/index.ts'
import type { Souk } from '../../lib/interface/index.ts'
import type { Keys } from '../keys/keys.ts'
import { hasBody, readStreamed, readWhole, type StreamedBody } from './body.ts'
import { checkJson } from './json.ts'
import { sendProblem } from './problem.ts'
import { sendReply } from './reply.ts'
import { type CallDraft, isJsonType, isPlain, readCall } from './request.ts'
import { type Visit, whileConnected } from './visit.ts'

export interface CallRoute {
  readonly souk: Pick<Souk, 'call'>
  readonly keys: Pick<Keys, 'verify'>
  readonly requestBytesMax: number
}

/** The way of one call through the ingress: key, request, body, overlay, answer. */
export async function serveCall(route: CallRoute, visit: Visit, scope: string, name: string): Promise<void> {
  const { req, res } = visit
  const signal = whileConnected(res)
  let streamed: StreamedBody | undefined
  try {
    await checkKey(route.keys, req.headers['x-consumer-key'])
    const call = readCall(req, scope, name)
    call.signal = signal
    call.requestId = visit.requestId
    if (isJsonType(req.headers['content-type']) || !hasBody(req)) await readJsonInto(call, visit, route.requestBytesMax)
    else call.body = streamed = readStreamed(req, route.requestBytesMax)
    await sendReply(visit, await route.souk.call(call))
  } catch (error) {
    // Nobody is there to be told; what the call made of its abort is no news.
    if (res.destroyed) return
    sendProblem(visit, streamed?.failure ?? error)
  }
}

async function checkKey(keys: Pick<Keys, 'verify'>, key: string | string[] | undefined): Promise<void> {
  if (typeof key !== 'string' || key === '') {
    throw new SoukError('key_missing', 'Send your consumer key in the header X-Consumer-Key.')
  }
  const holder = keys.verify(key)
  if (holder instanceof Promise) await holder
}

/** The bytes travel as they were sent; they are only looked at. */
async function readJsonInto(call: CallDraft, { req }: Visit, bytesMax: number): Promise<void> {
  const body = await readWhole(req, bytesMax)
  call.body = body
  if (body.length === 0 && !isPlain(call)) return
  const shape = checkJson(body)
  if (isPlain(call) && shape !== 'object') {
    throw new SoukError('invalid_request', `The body is a JSON ${shape}; a call takes a JSON object.`)
  }
}
