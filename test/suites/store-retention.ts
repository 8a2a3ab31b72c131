import assert from 'node:assert/strict'
import { formatRequestId } from '../../lib/base/request-id.ts'
import type { Posting } from '../../lib/interface/ledger.ts'
import type { CallRecord, Store, TrimRules } from '../../lib/interface/store.ts'
import { callRecord, peerId, storedResponse } from '../helpers/call-record.ts'

/** The limit of stored response bytes for stores under test. */
export const SUITE_STORED_BYTES = 64 * 1024
const NOW = 1_750_000_000_000
const RULES: TrimRules = {
  before: 1_000,
  freeBefore: 2_000,
  now: NOW,
  kinds: ['lease', 'charge/'],
  isDue: () => true,
  limit: 4
}

const from = (channel: string, amount: bigint): Posting[] => [
  { account: `receivable/${channel}`, amount },
  { account: `earned/${channel}`, amount: -amount }
]

/** The `Retention` part of the contract, and other limits of a store, run by `test/suites/store.ts`. */
export function retentionCases(current: () => Store, reopen: () => Promise<Store>): void {
  const paid = async (at: number, channel = 'c', amount = 5n): Promise<CallRecord> => {
    const record = callRecord({ at, charged: amount })
    await current().calls.append(record, { postings: from(channel, amount) })
    return record
  }
  const free = async (at: number, overrides: Partial<CallRecord> = {}): Promise<CallRecord> => {
    const record = callRecord({ at, ...overrides })
    await current().calls.append(record)
    return record
  }
  const book = (kind: string, reference: string, at: number, postings = from('c', 3n)) =>
    current().ledger.book({ kind, reference, at, postings })
  /** Runs a whole pass; `between` runs after each slice. */
  const pass = async (rules: Partial<TrimRules> = {}, between = async () => {}) => {
    let [calls, entries] = [0, 0]
    for (let slices = 0; slices < 1_000; slices++) {
      const trimmed = await current().retention.trim({ ...RULES, ...rules })
      calls += trimmed.calls
      entries += trimmed.entries
      if (trimmed.isOver) return { calls, entries }
      await between()
    }
    return assert.fail('the pass never ends')
  }
  const has = async ({ peer, requestId }: CallRecord) => (await current().calls.find(peer, requestId)) !== undefined
  const sums = async () => ({
    balances: await current().ledger.balances(''),
    usage: await current().calls.usage()
  })
  /** The sums of entries and carried amounts by account: the balances, computed independently. */
  const summed = async () => {
    const totals = new Map<string, bigint>()
    const add = ({ account, amount }: Posting) => totals.set(account, (totals.get(account) ?? 0n) + amount)
    for (const entry of await current().ledger.entries({ limit: 10_000 })) entry.postings.forEach(add)
    for (const carried of await current().ledger.carried('')) add(carried)
    return [...totals]
      .map(([account, amount]) => ({ account, amount }))
      .sort((a, b) => (a.account < b.account ? -1 : 1))
  }

  it('deletes old calls with their entries, and old entries of the kinds; the sums stay, even after reopening', async () => {
    const old = [await paid(1), await free(2), await paid(999)]
    await book('lease', 'a', 1)
    await book('charge/acct_1', 'a', 999)
    await book('charge/acct_1', 'long', 5, [...from('c', 3n), ...from('d', 4n)])
    await book('deposit', 'a', 1)
    old.push(await free(1_999))
    const young = [await paid(1_000), await free(2_000)]
    await book('lease', 'b', 1_000)
    const last = await free(9_000)
    const before = await sums()
    assert.deepEqual(await pass(), { calls: 4, entries: 5 })
    assert.deepEqual(await sums(), before)
    assert.deepEqual(await summed(), before.balances)
    for (const record of old) assert.equal(await has(record), false)
    for (const record of [...young, last]) assert.equal(await has(record), true)
    const left = await current().ledger.entries({ limit: 100 })
    const [paidOne] = young
    assert.deepEqual(
      left.map(({ kind, reference }) => [kind, reference]),
      [
        ['deposit', 'a'],
        ['call', formatRequestId(paidOne!.requestId)],
        ['lease', 'b']
      ]
    )
    await reopen()
    assert.deepEqual(await sums(), before)
    assert.deepEqual(await summed(), before.balances)
    assert.deepEqual(await pass(), { calls: 0, entries: 0 })
  })

  it('reuses no number after deletions', async () => {
    for (let n = 0; n < 5; n++) await paid(1)
    const [newest] = await current().calls.recent({ limit: 1 })
    const [booked] = (await current().ledger.entries({ limit: 10 })).slice(-1)
    await pass()
    await reopen()
    await paid(1)
    const [call] = await current().calls.recent({ limit: 1 })
    const [entry] = (await current().ledger.entries({ limit: 10 })).slice(-1)
    assert.ok(call!.seq > newest!.seq)
    assert.ok(entry!.seq > booked!.seq)
    assert.equal(await current().ledger.balance('earned/c'), -30n)
    assert.equal(await (await reopen()).ledger.balance('earned/c'), -30n)
  })

  it('continues after the last slice, even in a later process, and examines all rows again in the next pass', async () => {
    for (let n = 0; n < 10; n++) await paid(1)
    const held = await paid(1, 'held')
    for (let n = 0; n < 10; n++) await paid(1)
    const isDue = (account: string) => !account.endsWith('/held')
    let slices = 0
    await pass({ isDue }, async () => {
      slices++
      await reopen()
    })
    assert.ok(slices >= 5, `${slices} slices`)
    assert.equal((await current().calls.recent({ limit: 100 })).length, 2)
    assert.equal(await has(held), true)
    assert.deepEqual(await pass(), { calls: 1, entries: 1 })
    assert.equal(await has(held), false)
  })

  it('asks each account about its sum of deleted entries, and deletes entries in order', async () => {
    const records = [await paid(1), await paid(2), await paid(3, 'other', 7n), await paid(4), await paid(5, 'c', 1n)]
    await free(9_000)
    const asked: Array<[string, bigint]> = []
    const isDue = async (account: string, total: bigint) => {
      asked.push([account, total])
      return account !== 'earned/c' || total >= -6n
    }
    assert.deepEqual(await pass({ isDue, limit: 100 }), { calls: 2, entries: 2 })
    assert.deepEqual(await Promise.all(records.map(has)), [false, true, false, true, true])
    assert.deepEqual(asked, [
      ['receivable/c', 5n],
      ['earned/c', -5n],
      ['receivable/c', 10n],
      ['earned/c', -10n],
      ['receivable/other', 7n],
      ['earned/other', -7n]
    ])
    assert.deepEqual(await current().ledger.carried('earned/'), [
      { account: 'earned/c', amount: -5n },
      { account: 'earned/other', amount: -7n }
    ])
    assert.deepEqual(await summed(), (await sums()).balances)
  })

  it('keeps a call with a stored response, or with an idempotency key', async () => {
    const name = new Uint8Array(32).fill(1)
    const stored = await free(1, { response: storedResponse() })
    await current().claims.take({ name, holder: peerId('O'), epoch: 1n, at: 1 }, 0)
    const keyed = await free(1, { claim: { name, requestHash: name } })
    await free(9_000)
    assert.deepEqual(await pass(), { calls: 0, entries: 0 })
    await current().calls.dropResponses(2)
    await current().claims.drop(2, 10)
    assert.deepEqual(await pass(), { calls: 2, entries: 0 })
    assert.deepEqual([await has(stored), await has(keyed)], [false, false])
  })

  it('is not blocked by rows with a time in the far future', async () => {
    for (let n = 0; n < 6; n++) await paid(NOW + 1_000)
    const old = await paid(1)
    await paid(9_000)
    assert.deepEqual(await pass(), { calls: 1, entries: 1 })
    assert.equal(await has(old), false)
  })

  it('counts a row once with two concurrent trims', async () => {
    for (let n = 0; n < 40; n++) await paid(1)
    const before = await sums()
    const both = await Promise.all([pass(), pass(), pass()])
    const rest = await pass()
    assert.equal(
      [...both, rest].reduce((sum, { calls }) => sum + calls, 0),
      39
    )
    assert.deepEqual(await sums(), before)
    assert.deepEqual(await summed(), before.balances)
  })

  it('keeps the response of a payment until it is old, whoever acknowledges it', async () => {
    const [held, other] = [callRecord({ response: storedResponse() }), callRecord({ response: storedResponse() })]
    await current().calls.append({ ...held, isHeld: true })
    await current().calls.append(other)
    current().calls.acknowledge(held.peer, [held.requestId, other.requestId])
    await current().calls.append(callRecord())
    assert.deepEqual(await current().calls.find(held.peer, held.requestId), held)
    assert.equal((await current().calls.find(other.peer, other.requestId))?.response, undefined)
    assert.equal(await current().calls.dropResponses(NOW + 1), 1)
  })

  it('limits stored responses per peer to a share, and has space for others', async () => {
    const body = 'x'.repeat(SUITE_STORED_BYTES / 16)
    const fill = async (peer: string, times = 20) => {
      const records = Array.from({ length: times }, () => callRecord({ peer, response: storedResponse(body) }))
      for (const record of records) await current().calls.append(record)
      const found = await Promise.all(records.map(({ requestId }) => current().calls.find(peer, requestId)))
      assert.ok(
        found.every((record) => record !== undefined),
        'a call was not recorded'
      )
      return { records, stored: found.filter((record) => record?.response !== undefined).length }
    }
    const { records, stored } = await fill(peerId('A'))
    assert.equal(stored, 5)
    const others = [(await fill(peerId('B'))).stored, (await fill(peerId('D'))).stored]
    assert.ok(
      others.every((count) => count > 0),
      String(others)
    )
    await reopen()
    assert.equal((await fill(peerId('A'), 1)).stored, 0, 'a later process starts at 0')
    current().calls.acknowledge(
      peerId('A'),
      records.map(({ requestId }) => requestId)
    )
    assert.ok((await fill(peerId('A'), 1)).stored > 0, 'acknowledged responses still count')
    await current().calls.dropResponses(NOW + 1)
    assert.equal((await fill(peerId('E'))).stored, 5)
  })

  it('deletes a document that expires as it was last written', async () => {
    const { documents } = current()
    for (const key of ['a', 'b', 'c']) assert.equal(await documents.insert('i', key, 'x', 20), true)
    assert.equal(await documents.insert('i', 'a', 'x', 30), false)
    assert.equal(await documents.replace('i', 'b', 'x', 'y', 30), true)
    assert.equal(await documents.replace('i', 'c', 'x', 'y'), true)
    const keys = async () => (await current().documents.list('i')).map(({ key }) => key).join('')
    assert.equal(await documents.sweep(20, 10), 1)
    assert.equal(await keys(), 'bc')
    assert.equal(await (await reopen()).documents.sweep(30, 10), 1)
    assert.equal(await keys(), 'c')
  })

  it('deletes documents up to a key, and expired ones, in slices', async () => {
    const { documents, ledger } = current()
    const put = (key: string, expiresAt?: number) => {
      return { collection: 'c', key, value: key, ...(expiresAt === undefined ? {} : { expiresAt }) }
    }
    await documents.putAll([put('a'), put('b', 20), put('c', 10), put('d', 30), put('e'), put('f', 10)])
    await documents.put('d', 'a', 'other')
    await documents.put('c', 'f', 'again')
    await ledger.book({ kind: 'k', reference: 'r', at: 1, postings: from('c', 1n) }, [put('g', 15)])
    const keys = async () => (await current().documents.list('c')).map(({ key }) => key).join('')
    assert.equal(await documents.sweep(9, 10), 0)
    assert.equal(await documents.sweep(20, 2), 2)
    assert.equal(await keys(), 'abdef')
    const again = (await reopen()).documents
    assert.equal(await again.sweep(20, 10), 1)
    assert.equal(await again.trim('c', 'e', 1), 1)
    assert.equal(await keys(), 'def')
    assert.equal(await again.trim('c', 'e', 10), 1)
    assert.equal(await keys(), 'ef')
    assert.equal(await again.get('d', 'a'), 'other')
  })
}
