import assert from 'node:assert/strict'
import { apiId } from '../../../lib/base/api-name.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import type { CallReply } from '../../../lib/interface/souk.ts'
import { DailySpend } from '../../../lib/plans/daily-spend.ts'
import { unknownSubscription } from '../../../lib/plans/decide.ts'
import { readRequest, writeReply } from '../../../lib/plans/messages.ts'
import { OwnRecords } from '../../../lib/plans/own-records.ts'
import { OwnSubscriptions } from '../../../lib/plans/own-subscriptions.ts'
import { freshIds, peerId } from '../../helpers/call-record.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { manifestOf, memoryDocuments } from '../resolve/fixtures.ts'
import { planOf } from './plan-service-bench.ts'

const OWNER = peerId('A')
const SELF = peerId('C')
const FREE = planOf('free', { included: 3 })

describe('a subscription whose purchase was lost with its owner', () => {
  it('is bought again under the same id, since no owner has sold it', async () => {
    const clock = manualClock()
    const documents = memoryDocuments()
    const manifest = manifestOf(OWNER, { plans: [FREE] })
    const api = apiId(manifest.name, OWNER)
    let isOwnerBack = false
    const asked: string[] = []
    const answer = async (body: Uint8Array): Promise<CallReply> => {
      const request = readRequest(body)
      asked.push(request.action)
      if (request.action === 'show') throw unknownSubscription()
      if (!isOwnerBack) throw new SoukError('call_interrupted')
      const [createdAt, periodStart, periodEnd] = [clock.now(), clock.now(), clock.now() + 1_000]
      const period = { createdAt, periodStart, periodEnd, state: 'active', version: 1 } as const
      const sold = { id: request.id, api, plan: FREE, revision: 1, major: 1, peer: SELF, peers: [], owner: OWNER }
      return { body: writeReply({ ...sold, ...period, isShared: false }), charged: 0n } as unknown as CallReply
    }
    const subscriptions = new OwnSubscriptions({
      clock,
      requestIds: freshIds,
      self: SELF,
      records: new OwnRecords(documents, clock),
      spend: new DailySpend(documents, clock),
      resolve: async () => ({
        signed: { id: api, manifest, envelope: new Uint8Array() },
        owners: [{ id: OWNER, addresses: [] }]
      }),
      call: ({ body, sentTo }) =>
        sentTo === undefined ? answer(body as Uint8Array) : Promise.reject(new SoukError('call_interrupted')),
      sold: { list: async () => [] } as unknown as OwnSubscriptions['sold']
    })
    const id = '018f0000-0000-7000-8000-0000000000aa'
    const subscribe = () => subscriptions.subscribe({ api, plan: FREE.id, maxPrice: '1', id })
    await assert.rejects(subscribe(), { code: 'call_interrupted' })
    isOwnerBack = true
    assert.equal((await subscribe()).subscription.state, 'active')
    assert.equal((await subscribe()).subscription.state, 'active')
    assert.deepEqual(asked, ['subscribe', 'show', 'subscribe'])
  })
})
