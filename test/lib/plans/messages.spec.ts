import assert from 'node:assert/strict'
import { TIME_MS_MAX } from '../../../lib/base/limits/time.ts'
import { readReply, type SubscriptionReply, writeReply } from '../../../lib/plans/messages.ts'
import { peerId } from '../../helpers/call-record.ts'
import { planOf } from './plan-service-bench.ts'

describe('an owner’s response about a subscription', () => {
  const owner = peerId('A')
  const reply: SubscriptionReply = {
    id: '018f0000-0000-7000-8000-0000000000aa',
    api: `ticker@${owner}`,
    plan: planOf('free', { included: 3 }),
    revision: 1,
    major: 1,
    peer: peerId('C'),
    peers: [],
    owner,
    state: 'active',
    createdAt: 1,
    periodStart: 1,
    periodEnd: 2,
    version: 1,
    isShared: false
  }

  it('is read as it was written', () => {
    const last = { ...reply, periodEnd: TIME_MS_MAX }
    assert.deepEqual(readReply(writeReply(last)), last)
    assert.doesNotThrow(() => new Date(TIME_MS_MAX).toISOString())
  })

  const { plan } = reply
  const late = TIME_MS_MAX + 1
  const lies: Record<string, Partial<SubscriptionReply>> = {
    createdAt: { createdAt: late },
    periodStart: { periodStart: late },
    periodEnd: { periodEnd: late },
    'since of its plan': { plan: { ...plan, since: late } },
    'closedAt of its plan': { plan: { ...plan, closedAt: late } }
  }
  for (const [name, lie] of Object.entries(lies)) {
    it(`is refused with a time that no date can have: ${name}`, () => {
      assert.throws(() => readReply(writeReply({ ...reply, ...lie })), { code: 'upstream_invalid_response' })
    })
  }
})
