import assert from 'node:assert/strict'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import { limits, systemRandom } from '../../../lib/index.ts'
import type { Documents } from '../../../lib/interface/index.ts'
import { Deliveries, type Delivery, type Outcome } from '../../../node/events/deliveries.ts'
import { type ManualClock, manualClock, settle } from '../../helpers/manual-clock.ts'
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

  describe('after the clock was set back', () => {
    const [FIRST_MS = 0] = limits.WEBHOOK_RETRY_MS
    const LONGEST_MS = DAY_MS * 1.1
    let clock: ManualClock
    let aheadMs: number
    let documents: Documents
    let attempts: Delivery[]
    let outcome: Outcome
    let deliveries: Deliveries

    beforeEach(async () => {
      clock = manualClock()
      aheadMs = 400 * DAY_MS
      documents = memoryDocuments()
      attempts = []
      outcome = { fate: 'failed', why: 'away' }
      deliveries = await started()
      const timestamp = new Date(clock.now()).toISOString()
      await deliveries.add('wh_1', { id: 'evt_1', type: 'webhook.test', timestamp, data: {} })
      await settle()
    })
    afterEach(() => deliveries.stop())

    async function started(): Promise<Deliveries> {
      const deliveries = new Deliveries({
        documents,
        clock: { ...clock, now: () => clock.now() + aheadMs },
        random: systemRandom,
        send: async (delivery) => {
          attempts.push(delivery)
          return outcome
        },
        onOutcome: async () => {},
        onError: (cause) => assert.fail(String(cause))
      })
      await deliveries.start()
      return deliveries
    }
    async function restart(): Promise<void> {
      await deliveries.stop()
      deliveries = await started()
    }

    it('are repeated by the schedule', async () => {
      aheadMs = 0
      await clock.advance(FIRST_MS * 1.1)
      assert.equal(attempts.length, 2)
      outcome = { fate: 'taken', status: 204 }
      await clock.advance(limits.WEBHOOK_RETRY_MS[1]! * 1.1)
      assert.deepEqual([attempts.length, deliveries.pending('wh_1')], [3, 0])
      assert.ok(attempts[2]!.firstAt <= clock.now(), 'its age counts by the right clock')
    })

    it('are repeated by the schedule after a restart', async () => {
      aheadMs = 0
      await restart()
      await clock.advance(FIRST_MS * 1.1)
      assert.equal(attempts.length, 2)
    })

    it('keep the pause that the webhook asked for, also over a restart', async () => {
      outcome = { fate: 'failed', why: 'busy', retryAfterMs: DAY_MS }
      await clock.advance(FIRST_MS * 1.1)
      aheadMs = 0
      await restart()
      await clock.advance(DAY_MS - limits.WEBHOOK_LOOK_MS)
      assert.equal(attempts.length, 2)
      await clock.advance(limits.WEBHOOK_LOOK_MS)
      assert.equal(attempts.length, 3)
    })

    it('that an earlier version stored are repeated after the longest pause at most', async () => {
      const [stored] = await documents.list('webhook-deliveries')
      const { pauseMs: _, ...old } = JSON.parse(stored!.value) as Delivery
      await deliveries.stop()
      await documents.put('webhook-deliveries', stored!.key, JSON.stringify(old))
      aheadMs = 0
      deliveries = await started()
      await clock.advance(LONGEST_MS)
      assert.ok(attempts.length > 1)
    })
  })
})
