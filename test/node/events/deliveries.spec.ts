import assert from 'node:assert/strict'
import { limits, systemRandom } from '../../../lib/index.ts'
import { Deliveries } from '../../../node/events/deliveries.ts'
import { manualClock, settle } from '../../helpers/manual-clock.ts'
import { eventually, memoryDocuments } from '../ingress/harness.ts'

describe('deliveries', () => {
  it('repeat an attempt that throws by the schedule, not at once', async () => {
    const clock = manualClock()
    const errors: unknown[] = []
    let attempts = 0
    const deliveries = new Deliveries({
      documents: memoryDocuments(),
      clock,
      random: systemRandom,
      async send() {
        if (++attempts === 1) throw new TypeError('a bug')
        return { fate: 'taken', status: 204 }
      },
      onOutcome: async () => {},
      onError: (cause) => errors.push(cause)
    })
    await deliveries.start()
    const timestamp = new Date(clock.now()).toISOString()
    await deliveries.add('wh_1', { id: 'evt_1', type: 'webhook.test', timestamp, data: {} })
    await eventually(() => errors.length === 1)
    await settle()
    assert.deepEqual([attempts, deliveries.pending('wh_1')], [1, 1])
    await clock.advance(limits.WEBHOOK_RETRY_MS[0]! * 1.1)
    await eventually(() => deliveries.pending('wh_1') === 0)
    assert.equal(attempts, 2)
    await deliveries.stop()
  })
})
