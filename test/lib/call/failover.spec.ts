import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import type { CallTerms } from '../../../lib/interface/call.ts'
import { streamOf, textOf } from '../../helpers/bodies.ts'
import { freshIds } from '../../helpers/call-record.ts'
import { A, answered, B, C, ConsumerBench, failed } from './consumer-bench.ts'

describe('failover between owners', () => {
  let bench: ConsumerBench
  beforeEach(() => {
    bench = new ConsumerBench()
  })

  describe('another owner', () => {
    it('is tried with a new authorisation if one did not accept the call', async () => {
      bench.owners = { [A]: failed('not_accepted', 'api_not_found'), [B]: answered() }
      const reply = await bench.call()
      assert.equal(reply.owner, B)
      assert.deepEqual(bench.triedOwners(), [A, B])
      assert.deepEqual(
        bench.orders.map((order) => order.owner),
        [A, B]
      )
      assert.deepEqual(
        bench.accepted.map(({ owner: by, answer }) => [by, answer === undefined]),
        [
          [A, true],
          [B, false]
        ]
      )
      assert.deepEqual(bench.reports, ['A failed', 'B ok in 5'])
      const [first, second] = bench.tried
      assert.deepEqual(first?.call.requestId, second?.call.requestId)
    })

    for (const attempt of [
      failed('failed', 'upstream_timeout'),
      failed('failed', 'call_interrupted'),
      failed('failed', 'upstream_unreachable'),
      failed('lost', 'call_interrupted'),
      failed('lost', 'upstream_timeout')
    ]) {
      const { fate } = attempt
      const code = fate === 'answered' ? '' : attempt.error.code
      it(`is not tried if one accepted it (${fate}, ${code})`, async () => {
        bench.owners = { [A]: attempt, [B]: answered() }
        await assert.rejects(bench.call(), { code })
        assert.deepEqual(bench.triedOwners(), [A])
        assert.equal(bench.lookUps.length, 1)
        // The payment scheme gets no result for a lost call, because its outcome is unknown.
        assert.equal(bench.accepted.length, fate === 'lost' ? 0 : 1)
      })

      it(`is tried for an API declared idempotent only if that may help (${fate}, ${code})`, async () => {
        bench.manifest = { ...bench.manifest, idempotent: true }
        bench.owners = { [A]: attempt, [B]: answered() }
        const mayHelp = fate === 'lost' || code !== 'upstream_timeout'
        if (mayHelp) assert.equal((await bench.call()).owner, B)
        else await assert.rejects(bench.call(), { code })
      })
    }

    it('is not tried for an error of the API itself, even if idempotent', async () => {
      bench.manifest = { ...bench.manifest, idempotent: true }
      bench.owners = { [A]: failed('failed', 'soap_fault'), [B]: answered() }
      await assert.rejects(bench.call(), { code: 'soap_fault' })
      assert.deepEqual(bench.triedOwners(), [A])
      assert.deepEqual(bench.reports, [])
    })

    it('is tried with a streamed body only before anybody has read it', async () => {
      bench.owners = {
        [A]: failed('not_accepted', 'owner_unreachable'),
        [B]: async (call) => answered(await textOf(call.body))
      }
      assert.equal(await textOf((await bench.call({ body: streamOf('whole') })).body), 'whole')

      bench.manifest = { ...bench.manifest, idempotent: true }
      for (const fate of ['not_accepted', 'lost'] as const) {
        bench.tried.length = 0
        bench.owners = {
          [A]: async (call) => {
            const body = call.body as AsyncIterable<Uint8Array>
            for await (const chunk of body) if (chunk.length > 0) break
            return failed(fate, 'overloaded')
          },
          [B]: answered()
        }
        await assert.rejects(bench.call({ body: streamOf('whole', 'story') }), { code: 'overloaded' })
        assert.deepEqual(bench.triedOwners(), [A])
      }
    })

    it('a lost call may have been charged, where calls cost money', async () => {
      for (const [movesMoney, isUnknown] of [
        [true, true],
        [false, false]
      ] as const) {
        bench.movesMoney = movesMoney
        bench.owners = { [A]: failed('lost', 'call_interrupted') }
        await assert.rejects(bench.call(), { code: 'call_interrupted', isChargeUnknown: isUnknown })
        bench.owners = { [A]: failed('failed', 'upstream_timeout') }
        await assert.rejects(bench.call(), { code: 'upstream_timeout', isChargeUnknown: false })
        const error = new SoukError('call_interrupted', undefined, { members: { charge: '0.02' } })
        bench.owners = { [A]: { fate: 'failed', error } }
        await assert.rejects(bench.call(), { code: 'call_interrupted', isChargeUnknown: isUnknown })
      }
    })

    it('does not make a charge certain that another owner may have made', async () => {
      bench.movesMoney = true
      bench.manifest = { ...bench.manifest, idempotent: true }
      const lost = failed('lost', 'call_interrupted')
      for (const [fate, code] of [
        ['not_accepted', 'owner_unreachable'],
        ['not_accepted', 'overloaded'],
        ['not_accepted', 'api_paused'],
        ['failed', 'upstream_timeout']
      ] as const) {
        bench.owners = { [A]: lost, [B]: failed(fate, code) }
        await assert.rejects(bench.call(), { isChargeUnknown: true }, code)
      }
      // Its caller gave up.
      const stop = new AbortController()
      bench.owners = {
        [A]: async () => {
          stop.abort()
          return lost
        }
      }
      const gaveUp = { code: 'call_interrupted', message: 'The caller cancelled the call.', isChargeUnknown: true }
      await assert.rejects(bench.call({ signal: stop.signal }), gaveUp)
    })

    it('is not tried after the deadline', async () => {
      bench.owners = {
        [A]: async () => {
          await bench.clock.advance(500)
          return failed('not_accepted', 'owner_unreachable')
        },
        [B]: answered()
      }
      await assert.rejects(bench.call({ timeoutMs: 500 }), { code: 'owner_unreachable' })
      assert.deepEqual(bench.triedOwners(), [A])
    })

    it('gets the remaining time', async () => {
      bench.owners = {
        [A]: async () => {
          await bench.clock.advance(200)
          return failed('not_accepted', 'owner_unreachable')
        },
        [B]: answered()
      }
      await bench.call({ timeoutMs: 500 })
      assert.deepEqual(
        bench.tried.map(({ call }) => call.timeoutMs),
        [500, 300]
      )
    })
  })

  describe('with a used-up quota', () => {
    const subscription = freshIds.next()
    const terms: CallTerms = { subscription, owner: A, price: 0n, maxPrice: 0n, isOnly: false, paysEvents: false }
    const usedUp = failed('not_accepted', 'quota_exceeded')

    it('at one owner, another owner that shares the quota is tried', async () => {
      bench.owners = { [A]: usedUp, [B]: answered() }
      assert.equal((await bench.call({}, terms)).owner, B)
      assert.deepEqual(bench.reports, ['B ok in 5'], 'no owner is blamed')
    })

    for (const [order, what] of [
      [[A, B], 'after it'],
      [[B, A], 'before it']
    ] as const) {
      it(`the error is quota_exceeded, not that an owner that was tried ${what} is away`, async () => {
        bench.found = [order]
        bench.owners = { [A]: usedUp, [B]: failed('not_accepted', 'owner_unreachable') }
        await assert.rejects(bench.call({}, terms), { code: 'quota_exceeded' })
        assert.deepEqual(bench.triedOwners(), order)
        assert.equal(bench.lookUps.length, 1, 'another lookup would not help')
      })
    }

    it('at the only owner that counts them, no other owner is tried', async () => {
      bench.owners = { [A]: usedUp, [B]: answered() }
      await assert.rejects(bench.call({}, { ...terms, isOnly: true }), { code: 'quota_exceeded' })
      assert.deepEqual(bench.triedOwners(), [A])
    })

    it('and another owner with its own error, that error is returned', async () => {
      bench.owners = { [A]: usedUp, [B]: failed('not_accepted', 'subscription_inactive') }
      await assert.rejects(bench.call({}, terms), { code: 'subscription_inactive' })
    })
  })

  for (const order of [
    [A, B],
    [B, A]
  ]) {
    it(`returns the refusal of ${order[0] === A ? 'the first' : 'the last'} owner, not that the other one is away`, async () => {
      bench.found = [order]
      bench.owners = {
        [A]: failed('not_accepted', 'settlement_unavailable'),
        [B]: failed('not_accepted', 'owner_unreachable')
      }
      await assert.rejects(bench.call(), { code: 'settlement_unavailable' })
    })
  }

  describe('a second lookup', () => {
    it('runs once when no owner accepted the call, and finds new owners', async () => {
      bench.found = [[A], [A, C]]
      bench.owners = { [A]: failed('not_accepted', 'api_not_found'), [C]: answered() }
      assert.equal((await bench.call()).owner, C)
      assert.deepEqual(bench.triedOwners(), [A, C])
      assert.deepEqual(
        bench.lookUps.map(({ refresh }) => refresh),
        [false, true]
      )
    })

    it('tries an unreachable owner again, because it may have moved', async () => {
      bench.found = [[A]]
      let attempts = 0
      bench.owners = {
        [A]: async () => (++attempts === 1 ? failed('not_accepted', 'owner_unreachable') : answered())
      }
      assert.equal((await bench.call()).owner, A)
    })

    it('is not followed by a third', async () => {
      await assert.rejects(bench.call(), { code: 'owner_unreachable' })
      assert.deepEqual(bench.triedOwners(), [A, B, A, B])
      assert.equal(bench.lookUps.length, 2)
    })

    it('does not run for owners that are only busy, nor are they blamed', async () => {
      bench.owners = { [A]: failed('not_accepted', 'overloaded'), [B]: failed('not_accepted', 'overloaded') }
      await assert.rejects(bench.call(), { code: 'overloaded' })
      assert.deepEqual(bench.triedOwners(), [A, B])
      assert.equal(bench.lookUps.length, 1)
      assert.deepEqual(bench.reports, [])
    })

    it('runs for an API that turns out to be paused, and not again once that is known', async () => {
      bench.owners = { [A]: failed('not_accepted', 'api_paused'), [B]: failed('not_accepted', 'api_paused') }
      await assert.rejects(bench.call(), { code: 'api_paused' })
      assert.deepEqual([bench.triedOwners(), bench.lookUps.length], [[A, B], 2])
      assert.deepEqual(bench.reports, ['A failed', 'B failed'])
      bench.manifest = { ...bench.manifest, state: 'paused' }
      await assert.rejects(bench.call(), { code: 'api_paused' })
      assert.equal(bench.lookUps.length, 3)
      assert.equal(bench.reports.length, 2)
    })

    it('that fails does not hide the owners’ errors', async () => {
      bench.found = [[A], new SoukError('lookup_timeout')]
      bench.owners = { [A]: failed('not_accepted', 'api_not_found') }
      await assert.rejects(bench.call(), { code: 'api_not_found' })
      bench = new ConsumerBench()
      bench.found = [[], new SoukError('lookup_timeout')]
      await assert.rejects(bench.call(), { code: 'lookup_timeout' })
    })

    it('that fails does not hide that the call may have run, so its client should repeat it', async () => {
      bench.manifest = { ...bench.manifest, idempotent: true }
      bench.found = [[A, B], new SoukError('api_not_found')]
      bench.owners = { [A]: failed('lost', 'call_interrupted'), [B]: failed('not_accepted', 'owner_unreachable') }
      await assert.rejects(bench.call(), { code: 'owner_unreachable', isChargeUnknown: true })
    })
  })
})
