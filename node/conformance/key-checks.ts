import { systemClock } from '../../lib/index.ts'
import { newRequestId } from './call-stream.ts'
import { apiOf, type Check, DoesNotApply, expect, expectFailure } from './check.ts'
import type { Field } from './message.ts'

const FIELD = { idempotencyKey: 12, keyFirstAt: 17, keyAnswered: 18 } as const

/** A key that no call had before. */
const newKey = (): string => Buffer.from(newRequestId()).toString('hex')

/** Section 7.3: idempotency keys. */
export const KEY_CHECKS: readonly Check[] = [
  {
    section: '7.3',
    rule: 'another request with the same key gets the stored response, and runs nothing',
    needsApi: true,
    async run(context) {
      const call = await context.peer.ready()
      const more: readonly Field[] = [[FIELD.idempotencyKey, newKey()]]
      call.request({ id: 1, api: apiOf(context), more })
      const before = await call.answer()
      expect(!before.isFailure, `the first request failed with ${before.code}`)
      if (!before.hasBody) throw new DoesNotApply('its response is too large for a frame')
      call.request({ id: 2, api: apiOf(context), more })
      const after = await call.answer()
      expect(!after.isFailure, `the second request failed with ${after.code}`)
      expect(after.isReplayed, 'the second response is not marked as replayed')
      expect(Buffer.compare(before.body, after.body) === 0, 'the second request got another body')
      call.request({ id: 3, api: apiOf(context), more, body: Buffer.from('{"other": 1}') })
      expectFailure(await call.answer(), 'idempotency_mismatch', true)
    }
  },
  {
    section: '7.3',
    rule: 'a key that it does not know, but had responded to, is call_interrupted',
    needsApi: true,
    async run(context) {
      const call = await context.peer.ready()
      const more: readonly Field[] = [
        [FIELD.idempotencyKey, newKey()],
        [FIELD.keyFirstAt, systemClock.now()],
        [FIELD.keyAnswered, 1]
      ]
      call.request({ id: 1, api: apiOf(context), more })
      expectFailure(await call.answer(), 'call_interrupted', false)
    }
  }
]
