import { limits, systemClock } from '../../lib/index.ts'
import { newRequestId, requestIdAt, type RequestInit } from './call-stream.ts'
import { apiOf, type Check, DoesNotApply, expect, expectFailure, noSuchApi } from './check.ts'
import type { FramedStream } from './framed-stream.ts'
import { varint } from './message.ts'

type Refused = Omit<RequestInit, 'id' | 'api'> & { readonly api?: string }

/** The peer refuses such a request with this code. */
function refuses(rule: string, code: string, notAccepted: boolean | undefined, init: () => Refused): Check {
  return {
    section: '4.2',
    rule,
    async run(context) {
      const call = await context.peer.ready()
      call.request({ id: 1, api: noSuchApi(context), ...init() })
      expectFailure(await call.answer(), code, notAccepted)
    }
  }
}

const V4 = Uint8Array.from(Buffer.from('018f3c5e7a0040008000000000000001', 'hex'))

/** Sections 4 and 5: requests, and failures that say why one is refused. */
export const REQUEST_CHECKS: readonly Check[] = [
  refuses('an unknown API is api_not_found, not accepted', 'api_not_found', true, () => ({})),
  refuses('an API without a provider is invalid_request', 'invalid_request', true, () => ({ api: 'ticker' })),
  refuses('a request id of 15 bytes is invalid_request', 'invalid_request', true, () => ({
    requestId: newRequestId().subarray(1)
  })),
  refuses('a request id that is no UUID version 7 is invalid_request', 'invalid_request', true, () => ({
    requestId: V4
  })),
  refuses('a method in lower case is invalid_request', 'invalid_request', true, () => ({ method: 'post' })),
  refuses('a path that is a URL is invalid_request', 'invalid_request', true, () => ({ path: 'http://127.0.0.1/' })),
  refuses('a service that it does not know is invalid_request', 'invalid_request', true, () => ({ more: [[20, 2]] })),
  refuses('a pseudonym of 15 bytes is invalid_request', 'invalid_request', true, () => ({
    more: [[16, new Uint8Array(15)]]
  })),
  refuses('a call without time is upstream_timeout, not accepted', 'upstream_timeout', true, () => ({ timeoutMs: 0 })),
  refuses('an old request id is request_expired', 'request_expired', undefined, () => ({
    requestId: requestIdAt(systemClock.now() - limits.REQUEST_AGE_MS_MAX - 60_000)
  })),
  refuses('a request id of the future is invalid_request', 'invalid_request', undefined, () => ({
    requestId: requestIdAt(systemClock.now() + 2 * limits.REQUEST_ID_AHEAD_MS)
  })),
  {
    section: '5',
    rule: 'responds to each of many requests once, with its id',
    async run(context) {
      const call = await context.peer.ready()
      const ids = Array.from({ length: 20 }, (_, i) => i + 1)
      for (const id of ids) call.request({ id, api: noSuchApi(context) })
      const answered: number[] = []
      for (const _ of ids) answered.push((await call.answer()).id)
      expect(answered.toSorted((a, b) => a - b).join() === ids.join(), `it responded to ${answered.join()}`)
    }
  },
  {
    section: '6',
    rule: 'a body that never opens is not accepted, with source ingress',
    isSlow: true,
    async run(context) {
      const call = await context.peer.ready()
      call.request({ id: 1, api: noSuchApi(context), body: null })
      const answer = await call.answer(2 * limits.BULK_OPEN_MS)
      expectFailure(answer, 'overloaded', true)
      expect(answer.source === 'ingress', `its source is ${answer.source}`)
    }
  },
  {
    section: '6',
    rule: 'resets a bulk stream whose tag has another length than 17',
    async run({ peer }) {
      const stream = await peer.openBulk()
      stream.send(newRequestId())
      await stream.ended(limits.CONFORMANCE_RESET_MS)
    }
  },
  ...(['before', 'after'] as const).map(
    (when): Check => ({
      section: '6',
      rule: `takes a body whose stream opens ${when} the frame`,
      async run(context) {
        const call = await context.peer.ready()
        const requestId = newRequestId()
        const request = () => call.request({ id: 1, api: noSuchApi(context), requestId, body: null })
        if (when === 'after') request()
        const body = await context.peer.openBody(requestId)
        body.send(Buffer.from('{}'))
        body.send(new Uint8Array(0))
        if (when === 'before') request()
        expectFailure(await call.answer(), 'api_not_found', true)
      }
    })
  )
]

/** Rules that need calls of an API. */
export const API_CHECKS: readonly Check[] = [
  {
    section: '5',
    rule: 'runs a call and responds',
    needsApi: true,
    async run(context) {
      const call = await context.peer.ready()
      call.request({ id: 1, api: apiOf(context) })
      const { isFailure, code, status } = await call.answer()
      expect(!isFailure, `it failed with ${code}; the API has to be free and take POST with an empty JSON object`)
      expect(status >= 200 && status < 600, `its status is ${status}`)
    }
  },
  breaksOff('a body that breaks off is the sender’s fault', (body) => body.reset()),
  breaksOff('a body that ends without the empty chunk is incomplete', (body) => body.close()),
  breaksOff('a body with a chunk that is too long is invalid', (body) =>
    body.sendRaw(varint(BigInt(limits.BULK_CHUNK_BYTES_MAX + 1)))
  ),
  {
    section: '7.1',
    rule: 'a repeat on another stream gets the stored response, and runs nothing',
    needsApi: true,
    async run(context) {
      const requestId = newRequestId()
      const first = await context.peer.ready()
      first.request({ id: 1, api: apiOf(context), requestId })
      const before = await first.answer()
      // Owners store no large bodies, and no streams.
      if (!before.isFailure && !before.hasBody) throw new DoesNotApply('its response is too large for a frame')
      first.stream.reset()
      const again = await context.peer.ready()
      again.request({ id: 1, api: apiOf(context), requestId, resentFromEpoch: first.epoch })
      const after = await again.answer()
      expect(!after.isFailure, `the repeat failed with ${after.code}`)
      expect(Buffer.compare(before.body, after.body) === 0, 'the repeat got another body')
    }
  },
  {
    section: '7.1',
    rule: 'a repeat of an earlier epoch that is not known is call_interrupted, and stays so',
    needsApi: true,
    async run(context) {
      const requestId = newRequestId()
      const call = await context.peer.ready()
      for (const id of [1, 2]) {
        call.request({ id, api: apiOf(context), requestId, resentFromEpoch: 0n })
        expectFailure(await call.answer(), 'call_interrupted', false)
      }
    }
  },
  {
    section: '7.2',
    rule: 'another request under a known request id is idempotency_mismatch',
    needsApi: true,
    async run(context) {
      const requestId = newRequestId()
      const call = await context.peer.ready()
      call.request({ id: 1, api: apiOf(context), requestId })
      await call.answer()
      call.request({ id: 2, api: apiOf(context), requestId, body: Buffer.from('{"other": 1}') })
      expectFailure(await call.answer(), 'idempotency_mismatch', false)
    }
  }
]

/** A body whose first chunk is an empty JSON object, and whose end is invalid. */
function breaksOff(rule: string, end: (body: FramedStream) => void | Promise<void>): Check {
  return {
    section: '6',
    rule,
    needsApi: true,
    async run(context) {
      const call = await context.peer.ready()
      const requestId = newRequestId()
      call.request({ id: 1, api: apiOf(context), requestId, body: null })
      const body = await context.peer.openBody(requestId)
      body.send(Buffer.from('{}'))
      await end(body)
      const answer = await call.answer()
      expectFailure(answer, 'invalid_request', false)
      expect(answer.source === 'ingress', `its source is ${answer.source}`)
    }
  }
}
