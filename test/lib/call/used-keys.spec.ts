import assert from 'node:assert/strict'
import { type ErrorCode, SoukError } from '../../../lib/base/errors.ts'
import { IDEMPOTENCY_MS } from '../../../lib/base/limits/store.ts'
import type { Attempt } from '../../../lib/interface/call.ts'
import type { KeyUse } from '../../../lib/call/used-keys.ts'
import type { CallInit } from '../../../lib/interface/souk.ts'
import { A, answered, B, ConsumerBench, failed } from './consumer-bench.ts'

const KEY = 'order-7'

describe('the idempotency keys that a consumer node has sent', () => {
  let bench: ConsumerBench
  beforeEach(() => {
    bench = new ConsumerBench()
  })

  const call = (changes: Partial<CallInit> = {}) => bench.call({ idempotencyKey: KEY, ...changes })
  /** The key's history that the last call sent to the owners. */
  const told = (): ReadonlyArray<readonly [string, KeyUse | undefined]> =>
    bench.tried
      .splice(0)
      .map(({ owner, call: { keyFirstAt, keyAnswered } }) => [
        owner,
        keyFirstAt === undefined || keyAnswered === undefined ? undefined : { keyFirstAt, keyAnswered }
      ])
  /** The owner of a first call with the key, which has this outcome. The other owner accepts nothing. */
  async function first(attempt: Attempt): Promise<string> {
    bench.owners = { [A]: attempt, [B]: attempt }
    await call().catch(() => {})
    const [[owner, use] = assert.fail('nothing was sent')] = told()
    assert.equal(use, undefined)
    return owner
  }
  const rejectsWith = (code: ErrorCode, changes: Partial<CallInit> = {}) => assert.rejects(call(changes), { code })

  it('go again to the owner that responded, and say so', async () => {
    const owner = await first(answered())
    const firstAt = bench.clock.now()
    await bench.clock.advance(60_000)
    await call()
    assert.deepEqual(told(), [[owner, { keyFirstAt: firstAt, keyAnswered: true }]])
  })

  it('go to no other owner, even if the first is away or no longer listed', async () => {
    const owner = await first(answered())
    const other = owner === A ? B : A
    bench.owners = { [other]: answered() }
    await rejectsWith('owner_unreachable')
    bench.found = [[other]]
    await rejectsWith('owner_unreachable')
    assert.ok(told().every(([asked]) => asked === owner))
    bench.owners = { [owner]: answered() }
    assert.equal((await call()).owner, owner)
  })

  it('go to the owner that accepted the call, if others did not', async () => {
    const refusing = failed('not_accepted', 'overloaded')
    bench.owners = { [A]: refusing, [B]: answered() }
    for (const idempotencyKey of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await call({ idempotencyKey })
      bench.tried.length = 0
      await call({ idempotencyKey })
      assert.deepEqual(told(), [[B, { keyFirstAt: bench.clock.now(), keyAnswered: true }]])
    }
  })

  const unknown: Array<[string, Attempt]> = [
    ['a call that was lost', failed('lost', 'upstream_timeout')],
    ['a call that broke off', failed('failed', 'call_interrupted')],
    ['a key that the owner knew', failed('not_accepted', 'idempotency_in_flight')],
    ['a key that the owner knew by another request', failed('not_accepted', 'idempotency_mismatch')]
  ]
  for (const [what, attempt] of unknown) {
    it(`tell for ${what} the time of the first call, and that it had no response`, async () => {
      const owner = await first(attempt)
      const firstAt = bench.clock.now()
      await bench.clock.advance(1_000)
      bench.owners = { [A]: failed('failed', 'upstream_unreachable'), [B]: failed('failed', 'upstream_unreachable') }
      await rejectsWith('upstream_unreachable')
      await rejectsWith('upstream_unreachable')
      const use = { keyFirstAt: firstAt, keyAnswered: false }
      assert.deepEqual(told(), [
        [owner, use],
        [owner, use]
      ])
    })
  }

  const unused: Array<[string, Attempt]> = [
    ['was not taken', failed('not_accepted', 'api_paused')],
    ['failed', failed('failed', 'upstream_timeout')]
  ]
  for (const [what, attempt] of unused) {
    it(`count as new if their call ${what}`, async () => {
      await first(attempt)
      await first(answered())
    })
  }

  it('count as new if nothing could be sent', async () => {
    bench.authorise = async () => {
      throw new SoukError('insufficient_funds')
    }
    await rejectsWith('insufficient_funds')
    bench.authorise = async () => undefined
    await first(answered())
  })

  it('are stored before a call is sent, so a concurrent call finds them', async () => {
    bench.found = [[A]]
    bench.owners = {
      [A]: async ({ keyFirstAt }) => {
        if (keyFirstAt !== undefined) return failed('not_accepted', 'idempotency_in_flight')
        await rejectsWith('idempotency_in_flight')
        return answered()
      }
    }
    await call()
    assert.deepEqual(
      told().map(([, use]) => use?.keyAnswered),
      [undefined, false]
    )
  })

  it('are separate by account and key, and expire with the owners’ claims', async () => {
    bench.owners = { [A]: answered(), [B]: answered() }
    const consumer = (n: number) => () => new Uint8Array(16).fill(n)
    await call()
    await call({ consumer: consumer(1) })
    await call({ consumer: consumer(2) })
    await call({ idempotencyKey: 'order-8' })
    assert.ok(told().every(([, use]) => use === undefined))
    await call({ consumer: consumer(1) })
    assert.equal(told()[0]?.[1]?.keyAnswered, true)
    await bench.clock.advance(IDEMPOTENCY_MS + 1)
    await call()
    assert.deepEqual(told()[0]?.[1], undefined)
  })

  it('do not exist for a call without one, or with its own payment', async () => {
    bench.owners = { [A]: answered(), [B]: answered() }
    for (let n = 0; n < 2; n++) {
      await bench.call()
      await call({ payment: 'e30=' })
    }
    assert.ok(told().every(([, use]) => use === undefined))
    assert.equal(await bench.store.claims.drop(Number.MAX_SAFE_INTEGER, 0), 0)
  })
})
