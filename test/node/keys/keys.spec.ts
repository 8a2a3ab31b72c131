import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { inspect } from 'node:util'
import { limits, systemRandom } from '../../../lib/index.ts'
import type { Clock, Documents } from '../../../lib/interface/index.ts'
import { keyKind, makeKey } from '../../../node/keys/format.ts'
import { createKeys, type Keys } from '../../../node/keys/keys.ts'
import { eventually, memoryDocuments } from '../ingress/harness.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

const HOUR = 3_600_000
const USUAL = (key: string) => ({ hint: `souk_test_…${key.slice(-4)}`, maxPrice: 50_000n, dailyCap: 1_000_000n })

describe('consumer keys', () => {
  let now: number
  let documents: ReturnType<typeof memoryDocuments>
  let keys: Keys
  const clock: Clock = {
    now: () => now,
    elapsed: () => now,
    after: () => ({ cancel() {} }),
    soon() {}
  }
  const create = (over: { documents?: Documents; secret?: Uint8Array; network?: string; isLive?: boolean } = {}) =>
    createKeys({ documents, secret: Buffer.alloc(32, 1), clock, random: systemRandom, network: 'dev', ...over })
  const verify = async (key: string, at = keys) => at.verify(key)

  beforeEach(() => {
    now = Date.UTC(2026, 0, 1)
    documents = memoryDocuments()
    keys = create()
  })

  it('have the form that secret scanners look for', async () => {
    const { key, hint } = await keys.issue({ label: 'ci' })
    assert.match(key, /^souk_test_[0-9A-Za-z]{38}$/)
    assert.equal(hint, `souk_test_…${key.slice(-4)}`)
    assert.match((await create({ network: 'base', isLive: true }).issue()).key, /^souk_live_/)
    assert.match((await create({ network: 'base-sepolia' }).issue()).key, /^souk_test_/)
  })

  it('are verified by any process with the same store and secret', async () => {
    const { key, id } = await keys.issue({ label: 'ci' })
    assert.deepEqual(await verify(key), { id, keyId: id, label: 'ci', ...USUAL(key) })
    assert.deepEqual(await verify(key, create()), { id, keyId: id, label: 'ci', ...USUAL(key) })
  })

  it('cannot be derived from the store without the secret', async () => {
    const { key } = await keys.issue()
    const stored = JSON.stringify(await documents.list('consumer-keys'))
    assert.ok(!stored.includes(key) && !stored.includes(key.slice(10, -6)))
    await assert.rejects(verify(key, create({ secret: Buffer.alloc(32, 2) })), { code: 'key_invalid' })
  })

  it('require a secret of sufficient length', () => {
    assert.throws(() => create({ secret: new Uint8Array(16) }), { code: 'invalid_request' })
  })

  it('of invalid form are rejected without a store access', async () => {
    const { key } = await keys.issue()
    const swapped = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21)
    const before = documents.reads
    for (const wrong of [
      '',
      'x',
      swapped,
      key.slice(0, -1),
      `${key}0`,
      key.toLowerCase(),
      key.replace('test', 'live')
    ]) {
      await assert.rejects(verify(wrong), { code: 'key_invalid' }, wrong)
    }
    assert.equal(documents.reads, before)
  })

  it('of another network are distinguished', async () => {
    const live = makeKey('live', systemRandom)
    await assert.rejects(verify(live), { code: 'key_invalid', message: /dev.*live key/ })
  })

  it('that were never issued are rejected', async () => {
    await assert.rejects(verify(makeKey('test', systemRandom)), { code: 'key_invalid' })
  })

  it('are looked up once, then cached', async () => {
    const { key, id } = await keys.issue()
    await verify(key)
    const before = documents.reads
    const holder = keys.verify(key)
    assert.ok(!(holder instanceof Promise))
    assert.equal(holder.id, id)
    assert.equal(documents.reads, before)
  })

  it('stop working at the moment they are revoked', async () => {
    const { key, id } = await keys.issue()
    await verify(key)
    assert.equal((await keys.revoke(id)).state, 'revoked')
    await assert.rejects(verify(key), { code: 'key_revoked' })
    assert.equal((await keys.revoke(id)).revokedAt, now)
  })

  it('revoked by another process are rejected soon after', async () => {
    const { key, id } = await keys.issue()
    await verify(key)
    await create().revoke(id)
    await verify(key)
    now += limits.SHARED_FRESH_MS
    await assert.rejects(verify(key), { code: 'key_revoked' })
  })

  it('have their own limits or the defaults', async () => {
    const { key } = await keys.issue({ maxPrice: 2_000n, dailyCap: 0n })
    const { maxPrice, dailyCap } = await verify(key)
    assert.deepEqual([maxPrice, dailyCap], [2_000n, 0n])
    const usual = await keys.issue()
    assert.deepEqual([usual.maxPrice, usual.dailyCap], [50_000n, 1_000_000n])
    // The format of an earlier version, without limits.
    const {
      maxPrice: _,
      dailyCap: __,
      ...old
    } = JSON.parse((await documents.get('consumer-keys', usual.id))!) as object & Record<string, unknown>
    await documents.put('consumer-keys', usual.id, JSON.stringify(old))
    assert.deepEqual((await verify(usual.key, create())).dailyCap, 1_000_000n)
  })

  it('expire by the clock alone', async () => {
    const { key } = await keys.issue({ expiresAt: now + HOUR })
    now += HOUR - 1
    await verify(key)
    now += 1
    await assert.rejects(verify(key), { code: 'key_expired' })
    await assert.rejects(verify(key, create()), { code: 'key_expired' })
    assert.equal((await keys.list())[0]?.state, 'expired')
  })

  it('are listed oldest first, without the key', async () => {
    const first = await keys.issue({ label: 'first' })
    now += 1
    const second = await keys.issue({ label: 'second' })
    await keys.revoke(first.id)
    const listed = await keys.list()
    assert.deepEqual(
      listed.map(({ label, state }) => [label, state]),
      [
        ['first', 'revoked'],
        ['second', 'active']
      ]
    )
    const text = inspect(listed)
    assert.ok(!text.includes(first.key) && !text.includes(second.key) && !text.includes('digest'))
  })

  it('record approximately when they were used', async () => {
    const { key } = await keys.issue()
    assert.equal((await keys.list())[0]?.lastUsedAt, undefined)
    await verify(key)
    const first = now
    now += limits.KEY_USE_MS - 1
    await verify(key)
    assert.equal((await keys.list())[0]?.lastUsedAt, first)
    now += 1
    await verify(key)
    assert.equal((await keys.list())[0]?.lastUsedAt, now)
  })

  it('still work if recording a use fails', async () => {
    const { key, id } = await keys.issue()
    const failing = create({ documents: { ...documents, put: () => Promise.reject(new Error('full')) } })
    assert.equal((await verify(key, failing)).id, id)
  })

  it('reject labels with control characters and expiries in the past', async () => {
    await assert.rejects(keys.issue({ label: 'a'.repeat(limits.LABEL_CHARS_MAX + 1) }), { code: 'invalid_request' })
    await assert.rejects(keys.issue({ label: 'a\u001b[31m' }), { code: 'invalid_request' })
    await assert.rejects(keys.issue({ expiresAt: now }), { code: 'invalid_request' })
    await assert.rejects(keys.issue({ expiresAt: Number.NaN }), { code: 'invalid_request' })
  })

  it('never expire later than the last date that can be shown, also after rotations', async () => {
    const expiresAt = limits.TIME_MS_MAX
    await assert.rejects(keys.issue({ expiresAt: expiresAt + 1 }), { code: 'invalid_request', message: /any date/ })
    const { id } = await keys.issue({ expiresAt })
    now += HOUR
    const next = await keys.rotate(id)
    assert.equal(new Date(next.expiresAt ?? NaN).toISOString(), new Date(expiresAt).toISOString())
  })

  it('rotate: the new key has the same terms, and the old one works until the overlap ends', async () => {
    const old = await keys.issue({
      label: 'shop',
      maxPrice: 7n,
      dailyCap: 9n,
      apis: ['ticker'],
      expiresAt: now + 90 * HOUR
    })
    now += HOUR
    const next = await keys.rotate(old.id)
    assert.notEqual(next.key, old.key)
    assert.deepEqual(
      [next.label, next.maxPrice, next.dailyCap, next.apis, next.state, next.replaces, next.expiresAt],
      ['shop', 7n, 9n, ['ticker'], 'active', old.id, now + 90 * HOUR]
    )
    const retired = await keys.get(old.id)
    assert.deepEqual(
      [retired.state, retired.successor, retired.retiresAt],
      ['rotating', next.id, now + limits.KEY_OVERLAP_MS]
    )
    now += limits.KEY_OVERLAP_MS - 1
    await verify(old.key)
    now += 1
    await assert.rejects(verify(old.key), { code: 'key_expired' })
    await verify(next.key)
  })

  it('that expire during the overlap of their rotation say when they really end', async () => {
    const old = await keys.issue({ expiresAt: now + HOUR })
    await keys.rotate(old.id)
    assert.equal((await keys.get(old.id)).retiresAt, now + HOUR)
    assert.equal((await keys.list()).find(({ id }) => id === old.id)?.retiresAt, now + HOUR)
    now += HOUR
    await assert.rejects(verify(old.key), { code: 'key_expired' })
  })

  it('are counted together with their successors after any number of rotations', async () => {
    const first = await keys.issue()
    const second = await keys.rotate(first.id)
    const third = await keys.rotate(second.id, { overlapMs: 0 })
    assert.deepEqual(
      [(await verify(first.key)).id, (await verify(third.key)).id, third.lineage, (await verify(third.key)).keyId],
      [first.id, first.id, first.id, third.id]
    )
    await assert.rejects(verify(second.key), { code: 'key_revoked' })
    assert.equal((await keys.get(second.id)).state, 'revoked', 'without an overlap, nothing expired')
  })

  it('rotate once under concurrent requests, leaving no extra key', async () => {
    const { id } = await keys.issue()
    const tries = await Promise.allSettled([keys.rotate(id), create().rotate(id), keys.rotate(id)])
    assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await keys.list()).length, 2)
    for (const overlapMs of [-1, 0.5, Number.NaN, limits.KEY_OVERLAP_MS_MAX + 1]) {
      await assert.rejects(keys.rotate((await keys.issue()).id, { overlapMs }), { code: 'invalid_request' })
    }
  })

  it('are rejected at once while disabled', async () => {
    const { key, id } = await keys.issue()
    await verify(key)
    assert.equal((await keys.disable(id)).state, 'disabled')
    await assert.rejects(verify(key), { code: 'key_disabled' })
    assert.equal((await keys.enable(id)).state, 'active')
    await verify(key)
  })

  it('are listed by account, and ended ones do not count towards its limit', async () => {
    const account = 'acct_1'
    await keys.issue()
    const first = await keys.issue({ account, manages: true })
    const made = [first]
    for (let i = 1; i < limits.KEYS_PER_ACCOUNT_MAX; i++) made.push(await keys.issue({ account }))
    await assert.rejects(keys.issue({ account }), { code: 'quota_exceeded' })
    assert.equal((await keys.list(account)).length, limits.KEYS_PER_ACCOUNT_MAX)
    await keys.revoke(made[3]!.id)
    const late = await keys.issue({ account })
    const ids = (await keys.list(account)).map(({ id }) => id)
    assert.ok(ids.includes(late.id) && !ids.includes(made[3]!.id))
    await assert.rejects(verify(made[3]!.key), { code: 'key_invalid' })
    assert.deepEqual([(await verify(first.key)).manages, (await verify(late.key)).manages], [true, undefined])
  })

  it('of accounts leave the operator the keys of the node', async () => {
    const fill = async (label: string, account?: string) => {
      const { id } = await keys.issue({ label, ...(account === undefined ? {} : { account }) })
      const stored = await documents.get('consumer-keys', id)
      for (let i = 1; i < limits.KEYS_MAX; i++) await documents.insert('consumer-keys', `${label}_${i}`, stored!)
    }
    await fill('strangers', 'acct_1')
    await fill('operator')
    now += limits.KEYS_COUNTED_MS
    await assert.rejects(keys.issue(), { code: 'quota_exceeded' })
    await keys.issue({ account: 'acct_2' })
  })

  it('keep concurrent changes of two processes', async () => {
    const { id } = await keys.issue()
    const other = create()
    await Promise.all([keys.disable(id), other.revoke(id), keys.rotate(id).catch(() => {})])
    assert.equal((await keys.get(id)).state, 'revoked')
  })

  it('that do not exist cannot be revoked', async () => {
    await assert.rejects(keys.revoke('key_nothing'), { code: 'invalid_request' })
  })

  it('are not cached when they are revoked while being looked up', async () => {
    const { key, id } = await keys.issue()
    let release = () => {}
    let held = 0
    const slow: Documents = {
      ...documents,
      get: async (collection, name) => {
        const value = await documents.get(collection, name)
        // The first read has the old document, but returns it late.
        if (++held === 1) await new Promise<void>((resolve) => (release = resolve))
        return value
      }
    }
    const racing = create({ documents: slow })
    const verifying = verify(key, racing)
    await eventually(() => held === 1)
    await racing.revoke(id)
    release()
    await assert.rejects(verifying, { code: 'key_revoked' })
    await assert.rejects(verify(key, racing), { code: 'key_revoked' })
  })

  it('are invalid with any character changed, removed or added', () => {
    const key = makeKey('test', systemRandom)
    const edit = fc.tuple(fc.nat(key.length - 1), fc.nat(1), fc.string({ unit: 'binary', maxLength: 2 }))
    const edited = edit.map(([at, cut, put]) => key.slice(0, at) + put + key.slice(at + cut))
    fc.assert(
      fc.property(fc.oneof(edited, fc.string({ unit: 'binary', maxLength: 60 })), (candidate) => {
        assert.equal(keyKind(candidate), candidate === key ? 'test' : undefined)
      }),
      fuzzRuns(500)
    )
  })

  it('are made of every character alike, and their checksum covers all of them', () => {
    const seen = new Set<string>()
    for (let i = 0; i < 200; i++) {
      const key = makeKey('test', systemRandom)
      assert.equal(keyKind(key), 'test')
      for (const char of key.slice(10, 42)) seen.add(char)
    }
    assert.equal(seen.size, 62)
  })
})
