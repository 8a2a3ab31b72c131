import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { formatRequestId } from '../../lib/base/request-id.ts'
import type { Entry, Posting } from '../../lib/interface/ledger.ts'
import type { Store } from '../../lib/interface/store.ts'
import { callRecord } from '../helpers/call-record.ts'

const AMOUNT_MAX = 2n ** 63n - 1n
let references = 0

/** A balanced new entry: `amount` from one account to another. */
function move(from: string, to: string, amount: bigint, overrides: Partial<Entry> = {}): Entry {
  const postings = [
    { account: to, amount },
    { account: from, amount: -amount }
  ]
  return { kind: 'test', reference: `reference ${references++}`, at: 1_750_000_000_000, postings, ...overrides }
}

/** The `Ledger` part of the contract, run by `test/suites/store.ts`. `reopen` returns the store as a later process sees it. */
export function ledgerCases(current: () => Store, reopen: () => Promise<Store>): void {
  const sum = async (store: Store): Promise<bigint> =>
    (await store.ledger.balances('')).reduce((total, { amount }) => total + amount, 0n)

  it('keeps entries as booked, in order, after reopening', async () => {
    const entries = [
      move('a', 'b', 5n),
      move('b', 'c', AMOUNT_MAX, { kind: 'claim', at: 0 }),
      move('a', 'z', 1n, {
        postings: [
          { account: 'zoë/😀', amount: 3n },
          { account: 'fees', amount: -1n },
          { account: 'a', amount: -2n }
        ]
      })
    ]
    for (const entry of entries) assert.equal(await current().ledger.book(entry), true)
    const { ledger } = await reopen()
    const booked = await ledger.entries({ limit: 10 })
    assert.deepEqual(
      booked.map(({ seq: _, ...entry }) => entry),
      entries
    )
    assert.deepEqual(
      booked.map(({ seq }) => seq),
      booked.map(({ seq }) => seq).toSorted((a, b) => a - b)
    )
    assert.equal(await ledger.balance('a'), -7n)
    assert.equal(await ledger.balance('zoë/😀'), 3n)
    assert.equal(await ledger.balance('nobody'), 0n)
  })

  it('books no event twice, identified by kind and reference', async () => {
    const entry = move('a', 'b', 5n)
    assert.equal(await current().ledger.book(entry), true)
    const put = [{ collection: 'plans', key: 'k', value: 'second' }]
    const again = await Promise.all([1, 2].map(() => current().ledger.book({ ...entry, at: 9 }, put)))
    assert.deepEqual(again, [false, false])
    assert.equal(await current().ledger.book({ ...entry, kind: 'other' }), true)
    assert.equal(await current().ledger.balance('b'), 10n)
    assert.equal(await current().documents.get('plans', 'k'), undefined)
    assert.equal((await current().ledger.entries({ limit: 10 })).length, 2)
  })

  it('rejects unbalanced or invalid entries, without affecting others', async () => {
    const good = move('a', 'b', 5n)
    const postings = (...amounts: bigint[]): Partial<Entry> => ({
      postings: amounts.map((amount, i) => ({ account: `account ${i}`, amount }))
    })
    const twice: Posting[] = [
      { account: 'a', amount: 1n },
      { account: 'a', amount: -1n }
    ]
    const wrong: Array<Partial<Entry>> = [
      postings(),
      postings(1n),
      postings(1n, -2n),
      postings(1n, 1n),
      postings(0n, 0n),
      postings(1n, 0n, -1n),
      postings(2n ** 63n, -(2n ** 63n)),
      postings(...Array.from({ length: 17 }, (_, i) => (i === 0 ? 16n : -1n))),
      { postings: twice },
      { postings: [{ account: '', amount: 1n }, ...twice.slice(1)] },
      { postings: [{ account: 'x'.repeat(201), amount: 1n }, ...twice.slice(1)] },
      { kind: '' },
      { reference: '' },
      { reference: 'a\0b' },
      { at: 1.5 }
    ]
    const results = await Promise.allSettled(
      [...wrong.map((change) => move('a', 'b', 1n, change)), good].map((entry) => current().ledger.book(entry))
    )
    const last = results.pop()
    assert.deepEqual(last, { status: 'fulfilled', value: true })
    for (const [i, result] of results.entries()) {
      assert.ok(result.status === 'rejected', `${i} was taken`)
      assert.equal((result.reason as { code?: string }).code, 'internal_error')
    }
    assert.deepEqual(await current().ledger.balances(''), [
      { account: 'a', amount: -5n },
      { account: 'b', amount: 5n }
    ])
  })

  it('puts documents with an entry, in one commit', async () => {
    const put = [
      { collection: 'plans', key: 'a', value: '1' },
      { collection: 'other', key: 'b', value: '2' }
    ]
    await current().documents.put('plans', 'a', '0')
    await current().ledger.book(move('a', 'b', 1n), put)
    const store = await reopen()
    assert.equal(await store.documents.get('plans', 'a'), '1')
    assert.equal(await store.documents.get('other', 'b'), '2')
  })

  it('books with a call’s record, or not at all', async () => {
    const postings = [
      { account: 'owed/channel', amount: 7n },
      { account: 'earned/api', amount: -7n }
    ]
    const documents = [{ collection: 'vouchers', key: 'channel', value: '100' }]
    const record = callRecord({ charged: 7n })
    await current().calls.append(record, { postings, documents })
    const second = { postings: postings.toReversed(), documents: [{ ...documents[0]!, value: '200' }] }
    await assert.rejects(current().calls.append(record, second), { code: 'idempotency_in_flight' })
    const unbalanced = callRecord()
    await assert.rejects(current().calls.append(unbalanced, { postings: postings.slice(1) }), {
      code: 'internal_error'
    })
    assert.equal(await current().calls.find(unbalanced.peer, unbalanced.requestId), undefined)

    const store = await reopen()
    assert.equal(await store.ledger.balance('owed/channel'), 7n)
    assert.equal(await store.documents.get('vouchers', 'channel'), '100')
    assert.deepEqual(
      (await store.ledger.entries({ limit: 2 })).map(({ seq: _, ...entry }) => entry),
      [{ kind: 'call', reference: formatRequestId(record.requestId), at: record.at, postings }]
    )
  })

  it('books calls with the same id from two peers', async () => {
    const record = callRecord()
    const postings = [
      { account: 'a', amount: 1n },
      { account: 'b', amount: -1n }
    ]
    await current().calls.append(record, { postings })
    await current().calls.append({ ...record, peer: 'another' }, { postings })
    assert.equal(await current().ledger.balance('a'), 2n)
  })

  it('draws on an account only up to its balance', async () => {
    const { ledger } = current()
    await ledger.book(move('balance', 'cash', 10n))
    assert.equal(await ledger.draw(move('elsewhere', 'balance', 11n), 'balance'), 'short')
    assert.equal(await ledger.draw(move('elsewhere', 'nobody', 1n), 'nobody'), 'short')
    const put = (value: string) => [{ collection: 'draws', key: 'k', value }]
    const entry = move('elsewhere', 'balance', 6n)
    assert.equal(await ledger.draw(entry, 'balance', put('first')), 'booked')
    assert.equal(await ledger.draw(entry, 'balance', put('again')), 'repeated')
    assert.equal(await ledger.draw(move('elsewhere', 'balance', 5n), 'balance', put('short')), 'short')
    assert.equal(await ledger.draw(move('elsewhere', 'balance', 4n), 'balance'), 'booked')
    const store = await reopen()
    assert.equal(await store.ledger.balance('balance'), 0n)
    assert.equal(await store.ledger.balance('elsewhere'), -10n)
    assert.equal(await store.documents.get('draws', 'k'), 'first')
    assert.equal(await store.ledger.draw(entry, 'balance'), 'repeated')
    assert.equal((await store.ledger.entries({ limit: 10 })).length, 3)
  })

  it('rejects a draw with an invalid entry, or one that takes nothing', async () => {
    const { ledger } = current()
    await ledger.book(move('balance', 'cash', 10n))
    await assert.rejects(ledger.draw(move('balance', 'cash', 1n), 'balance'), { code: 'internal_error' })
    await assert.rejects(ledger.draw(move('a', 'b', 1n), 'balance'), { code: 'internal_error' })
    await assert.rejects(ledger.draw(move('a', 'balance', 1n, { kind: '' }), 'balance'), { code: 'internal_error' })
    assert.equal((await ledger.entries({ limit: 10 })).length, 1)
  })

  it('grants concurrent draws in the order of the calls, never above the balance', async () => {
    const { ledger } = current()
    const deposit = ledger.book(move('balance', 'cash', 100n))
    const crowd = Array.from({ length: 60 }, (_, i) =>
      ledger.draw(move('spent', 'balance', 3n + BigInt(i % 2)), 'balance')
    )
    // Later draws may use returned amounts.
    const back = ledger.draw(move('balance', 'spent', 50n), 'spent')
    const twice = move('spent', 'balance', 50n)
    const last = [
      ledger.draw(twice, 'balance'),
      ledger.draw(twice, 'balance'),
      ledger.draw(move('spent', 'balance', 50n), 'balance')
    ]
    await deposit
    const outcomes = await Promise.all(crowd)
    assert.equal(outcomes.filter((outcome) => outcome === 'booked').length, 28)
    assert.equal(outcomes.indexOf('short'), 28)
    assert.equal(await back, 'booked')
    assert.deepEqual(await Promise.all(last), ['booked', 'repeated', 'short'])
    assert.equal(await ledger.balance('balance'), -2n)
  })

  it('lists balances by prefix, in order', async () => {
    for (const to of ['owed/b', 'owed/a', 'owed', 'owed0', 'OWED/c', 'owed/😀']) {
      await current().ledger.book(move('source', to, 1n))
    }
    const names = async (prefix: string) => (await current().ledger.balances(prefix)).map(({ account }) => account)
    assert.deepEqual(await names('owed/'), ['owed/a', 'owed/b', 'owed/😀'])
    assert.deepEqual(await names('owed'), ['owed', 'owed/a', 'owed/b', 'owed/😀', 'owed0'])
    assert.deepEqual(await names('none'), [])
    assert.deepEqual(await names('%'), [])
    assert.equal((await names('')).length, 7)
  })

  it('lists entries page by page', async () => {
    for (let i = 1; i <= 10; i++) await current().ledger.book(move('a', i % 2 === 0 ? 'even' : 'odd', BigInt(i)))
    const page = async (query: Parameters<Store['ledger']['entries']>[0]) => current().ledger.entries(query)
    const amounts = (entries: Awaited<ReturnType<typeof page>>) => entries.map(({ postings }) => postings[0]?.amount)
    const first = await page({ limit: 4 })
    assert.deepEqual(amounts(first), [1n, 2n, 3n, 4n])
    const rest = await page({ after: first.at(-1)!.seq, limit: 100 })
    assert.deepEqual(amounts(rest), [5n, 6n, 7n, 8n, 9n, 10n])
    assert.deepEqual(await page({ after: rest.at(-1)!.seq, limit: 100 }), [])
    assert.deepEqual(await page({ limit: 0 }), [])
  })

  it('lists only entries of some kinds', async () => {
    const { ledger, calls } = current()
    const kinds = ['x', 'y', 'x', 'zoë/😀', 'call', 'y']
    for (const kind of kinds) await ledger.book(move('a', 'b', 1n, { kind }))
    await calls.append(callRecord(), { postings: move('a', 'b', 1n).postings })
    const shown = async (named: string[], after = 0) =>
      (await ledger.entries({ kinds: named, limit: 10, after })).map(({ kind }) => kind)
    assert.deepEqual(await shown(['x', 'zoë/😀', 'none']), ['x', 'x', 'zoë/😀'])
    assert.deepEqual(await shown(['call']), ['call'], 'not those of calls')
    assert.deepEqual(await shown([]), [])
    const [first] = await ledger.entries({ kinds: ['y'], limit: 1 })
    assert.deepEqual(await shown(['x', 'y'], first!.seq), ['x', 'y'])
  })

  it('sums exactly beyond 64 bits', async () => {
    const entries = Array.from({ length: 5 }, () => move('deep', 'high', AMOUNT_MAX))
    await Promise.all(entries.map((entry) => current().ledger.book(entry)))
    const { ledger } = await reopen()
    assert.equal(await ledger.balance('high'), AMOUNT_MAX * 5n)
    assert.equal(await ledger.balance('deep'), AMOUNT_MAX * -5n)
  })

  it('sums to zero, and per account to its entries, under concurrent bookings', async () => {
    const account = fc.constantFrom('a', 'b', 'c', 'd')
    const step = fc.record({
      from: account,
      to: account,
      amount: fc.bigInt({ min: -5n, max: 1_000n }),
      isCall: fc.boolean()
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const store = current()
        await Promise.allSettled(
          steps.map(({ from, to, amount, isCall }) => {
            const entry = move(from, to, amount)
            return isCall ? store.calls.append(callRecord(), { postings: entry.postings }) : store.ledger.book(entry)
          })
        )
        assert.equal(await sum(store), 0n)
      }),
      { numRuns: 10 }
    )
    const store = await reopen()
    assert.equal(await sum(store), 0n)
    const all = (await store.ledger.entries({ limit: 10_000 })).flatMap(({ postings }) => postings)
    for (const { account, amount } of await store.ledger.balances('')) {
      const own = all.filter((posting) => posting.account === account)
      assert.equal(
        own.reduce((total, posting) => total + posting.amount, 0n),
        amount
      )
    }
  })
}
