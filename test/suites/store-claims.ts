import assert from 'node:assert/strict'
import type { Claim, Store } from '../../lib/interface/store.ts'
import { callRecord, peerId, storedResponse } from '../helpers/call-record.ts'

const AT = 1_750_000_000_000
const name = (n: number) => new Uint8Array(32).fill(n)
const hash = (n: number) => new Uint8Array(32).fill(n)
const claimOf = (changes: Partial<Claim> = {}): Claim => ({
  name: name(1),
  holder: peerId('O'),
  epoch: 1_750_000_000_123n,
  at: AT,
  ...changes
})

/** Idempotency keys in an owner's store. */
export function claimCases(current: () => Store, reopen: () => Promise<Store>): void {
  it('grants a name to one caller, and shows the claim to others', async () => {
    const { claims } = current()
    const takers = Array.from({ length: 20 }, (_, n) => claimOf({ epoch: BigInt(n) }))
    const known = await Promise.all(takers.map((claim) => claims.take(claim, 0)))
    const [winner, ...rest] = takers.filter((_, n) => known[n] === undefined)
    assert.deepEqual(rest, [])
    for (const found of known) if (found !== undefined) assert.deepEqual(found, winner)
    assert.equal(await claims.take(claimOf({ name: name(2) }), 0), undefined)
  })

  it('keeps a claim after closing and reopening', async () => {
    await current().claims.take(claimOf(), 0)
    const { claims } = await reopen()
    assert.deepEqual(await claims.take(claimOf({ epoch: 7n }), 0), claimOf())
  })

  it('grants a name again after it was freed, or after the claim has expired', async () => {
    const { claims } = current()
    await claims.take(claimOf(), 0)
    await claims.free(name(1))
    await claims.free(name(9))
    assert.equal(await claims.take(claimOf({ epoch: 2n }), 0), undefined)
    const later = claimOf({ epoch: 3n, at: AT + 10 })
    assert.deepEqual(await claims.take(later, AT), claimOf({ epoch: 2n }))
    assert.equal(await claims.take(later, AT + 1), undefined)
    assert.deepEqual(await claims.take(claimOf(), 0), later)
  })

  it('puts a claim in place of another, and where there is none', async () => {
    const { claims } = current()
    await claims.take(claimOf(), 0)
    const put = [claimOf({ holder: peerId('Q'), epoch: 1n, at: AT - 5 }), claimOf({ name: name(2), epoch: 0n })]
    for (const claim of put) await claims.put(claim)
    const again = await reopen()
    for (const claim of put) assert.deepEqual(await again.claims.take({ ...claimOf(), name: claim.name }, 0), claim)
  })

  it('finds the call of a name, written with its record', async () => {
    const { claims, calls } = current()
    const record = callRecord({ at: AT + 5, response: storedResponse() })
    await claims.take(claimOf(), 0)
    await calls.append({ ...record, claim: { name: name(1), requestHash: hash(7) } })
    const expected = { ...claimOf({ at: AT + 5 }), answered: { requestHash: hash(7), record } }
    assert.deepEqual(await claims.take(claimOf({ epoch: 2n }), 0), expected)
    assert.deepEqual(await calls.find(record.peer, record.requestId), record, 'the record changed')
    const again = await reopen()
    assert.deepEqual(await again.claims.take(claimOf({ epoch: 2n }), 0), expected)
    assert.equal(await again.claims.take(claimOf({ epoch: 2n }), AT + 6), undefined, 'a response did not expire')
    assert.deepEqual(await again.claims.take(claimOf(), 0), claimOf({ epoch: 2n }))
  })

  it('frees a name with the record of a call without a response', async () => {
    const { claims, calls } = current()
    await claims.take(claimOf(), 0)
    await calls.append({ ...callRecord({ outcome: 'void', code: 'upstream_timeout' }), claim: { name: name(1) } })
    assert.equal(await claims.take(claimOf({ epoch: 2n }), 0), undefined)
  })

  it('writes nothing of a claim whose record exists already', async () => {
    const { claims, calls } = current()
    const record = callRecord({ response: storedResponse() })
    await calls.append(record)
    await claims.take(claimOf(), 0)
    const again = calls.append({ ...record, claim: { name: name(1), requestHash: hash(7) } })
    await assert.rejects(again, { code: 'idempotency_in_flight' })
    assert.deepEqual(await claims.take(claimOf({ epoch: 2n }), 0), claimOf())
  })

  it('keeps the response of an answered claim, and drops other acknowledged responses', async () => {
    const { claims, calls } = current()
    const [named, other] = [callRecord({ response: storedResponse() }), callRecord({ response: storedResponse() })]
    await claims.take(claimOf(), 0)
    await calls.append({ ...named, claim: { name: name(1), requestHash: hash(7) } })
    await calls.append(other)
    calls.acknowledge(named.peer, [named.requestId, other.requestId])
    // Written asynchronously, in order.
    await calls.append(callRecord())
    assert.deepEqual((await calls.find(named.peer, named.requestId))?.response, named.response)
    assert.equal((await calls.find(other.peer, other.requestId))?.response, undefined)
    await claims.free(name(1))
    calls.acknowledge(named.peer, [named.requestId])
    await calls.append(callRecord())
    assert.equal((await calls.find(named.peer, named.requestId))?.response, undefined)
  })

  it('drops old claims, and the oldest above the limit', async () => {
    const { claims } = current()
    for (let n = 0; n < 10; n++) await claims.take(claimOf({ name: name(n), at: AT + n }), 0)
    assert.equal(await claims.drop(AT + 3, 100), 3)
    assert.equal(await claims.drop(AT, 100), 0)
    assert.equal(await claims.drop(AT, 5), 2)
    const free = []
    for (let n = 0; n < 10; n++) if ((await claims.take(claimOf({ name: name(n) }), 0)) === undefined) free.push(n)
    assert.deepEqual(free, [0, 1, 2, 3, 4])
  })
}
