import assert from 'node:assert/strict'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { callRecord, storedResponse } from '../../../helpers/call-record.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { startPostgres, type TestPostgres } from '../../../helpers/postgres.ts'
import { storeSuite } from '../../../suites/store.ts'
import { SUITE_STORED_BYTES } from '../../../suites/store-retention.ts'

describe('PostgreSQL', () => {
  let postgres: TestPostgres | undefined
  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres?.stop())

  storeSuite('the PostgreSQL store', async () => {
    const url = await postgres!.create()
    return {
      store: createPostgresStore({ url, storedBytesMax: SUITE_STORED_BYTES }),
      again: () => createPostgresStore({ url, storedBytesMax: SUITE_STORED_BYTES }),
      backupTool: 'pg_dump',
      dispose: () => {}
    }
  })

  describe('the PostgreSQL store', () => {
    it('is shared by several processes: no duplicate record, exact sums', async () => {
      const url = await postgres!.create()
      const stores = [1, 2, 3].map(() => createPostgresStore({ url, storedBytesMax: SUITE_STORED_BYTES }))
      await Promise.all(stores.map((store) => store.open()))
      const records = Array.from({ length: 100 }, () =>
        callRecord({ price: 3n, charged: 3n, response: storedResponse() })
      )
      const postings = [
        { account: 'owed', amount: 3n },
        { account: 'earned', amount: -3n }
      ]
      const results = await Promise.allSettled(
        records.flatMap((record) => stores.map((store) => store.calls.append(record, { postings })))
      )
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, records.length)
      const first = stores[0]!
      assert.equal(await first.ledger.balance('owed'), 300n)
      assert.equal((await first.calls.usage())[0]?.captured, 100)
      assert.equal((await first.ledger.entries({ limit: 1_000 })).length, 100)
      const inserted = await Promise.all(stores.map((store) => store.documents.insert('a', 'b', 'c')))
      assert.equal(inserted.filter(Boolean).length, 1)
      await Promise.all(stores.map((store) => store.close()))
    })

    it('delivers signals to every listening process, but not to another schema', async () => {
      const url = await postgres!.create()
      const stores = [url, url, await postgres!.create()].map((each) => createPostgresStore({ url: each }))
      await Promise.all(stores.map((store) => store.open()))
      const heard = stores.map((): Array<string | undefined> => [])
      const deafen = stores.map(({ signals }, i) => signals!.listen('keys', (text) => heard[i]!.push(text)))
      stores[0]!.signals!.listen('others', (text) => assert.equal(text, undefined, 'of another topic'))
      // The first callback means that signals may have been missed; from then on it receives them.
      await eventually('all to listen', 5_000, () => heard.every((texts) => texts.length === 1) || undefined)
      await stores[0]!.signals!.send('keys', 'one')
      await stores[1]!.signals!.send('keys', 'two\nlines')
      await eventually('both', 5_000, () => heard.slice(0, 2).every((texts) => texts.length === 3) || undefined)
      assert.deepEqual(heard, [[undefined, 'one', 'two\nlines'], [undefined, 'one', 'two\nlines'], [undefined]])
      for (const end of deafen) end()
      await stores[0]!.signals!.send('keys', 'three')
      await Promise.all(stores.map((store) => store.close()))
      assert.equal(heard[0]!.length, 3)
    })

    it('moves amounts between accounts in opposite orders in many processes without a deadlock', async () => {
      const url = await postgres!.create()
      const stores = [1, 2, 3, 4].map(() => createPostgresStore({ url, storedBytesMax: SUITE_STORED_BYTES }))
      await Promise.all(stores.map((store) => store.open()))
      const accounts = ['a', 'b', 'c', 'd']
      const bookings = stores.flatMap((store, s) =>
        Array.from({ length: 50 }, (_, i) => {
          const [from, to] = [accounts[(i + s) % 4]!, accounts[(i + s + 1 + (i % 3)) % 4]!]
          const entry = {
            kind: 'test',
            reference: `${s}/${i}`,
            at: 0,
            postings: [
              { account: from, amount: 1n },
              { account: to, amount: -1n }
            ]
          }
          return store.ledger.book(entry, [{ collection: 'x', key: from, value: to }])
        })
      )
      assert.ok((await Promise.all(bookings)).every((isNew) => isNew))
      const balances = await stores[0]!.ledger.balances('')
      assert.equal(
        balances.reduce((sum, { amount }) => sum + amount, 0n),
        0n
      )
      await Promise.all(stores.map((store) => store.close()))
    })

    it('draws nothing twice in many processes, in both directions', async () => {
      const url = await postgres!.create()
      const stores = [1, 2, 3].map(() => createPostgresStore({ url, storedBytesMax: SUITE_STORED_BYTES }))
      await Promise.all(stores.map((store) => store.open()))
      const move = (from: string, to: string, amount: bigint, reference: string) => {
        const postings = [
          { account: from, amount },
          { account: to, amount: -amount }
        ]
        return { kind: 'test', reference, at: 0, postings }
      }
      await stores[0]!.ledger.book(move('cash', 'balance', 100n, 'deposit'))
      const drawing = stores.flatMap(({ ledger }, s) =>
        Array.from({ length: 120 }, async (_, i) => {
          // The same third of the references in each process; half of the draws are reversed.
          const reference = i % 3 === 0 ? `${i}` : `${s}/${i}`
          const [from, to] = i % 2 === 0 ? (['balance', 'lease'] as const) : (['lease', 'balance'] as const)
          const amount = BigInt(1 + (i % 7))
          return { reference, from, amount, outcome: await ledger.draw(move(from, to, amount, reference), from) }
        })
      )
      const drawn = await Promise.all(drawing)
      const booked = drawn.filter(({ outcome }) => outcome === 'booked')
      assert.equal(new Set(booked.map(({ reference }) => reference)).size, booked.length)
      const sum = (from: string) =>
        booked.filter((draw) => draw.from === from).reduce((total, { amount }) => total + amount, 0n)
      const { ledger } = stores[0]!
      assert.equal(-(await ledger.balance('balance')), 100n - sum('balance') + sum('lease'))
      assert.ok((await ledger.balance('balance')) <= 0n && (await ledger.balance('lease')) <= 0n)
      await Promise.all(stores.map((store) => store.close()))
    })

    it('rejects only the entry that the database cannot store', async () => {
      const store = createPostgresStore({ url: await postgres!.create() })
      await store.open()
      const records = [callRecord(), callRecord({ status: 2 ** 40 }), callRecord()]
      const results = await Promise.allSettled(records.map((record) => store.calls.append(record)))
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled']
      )
      assert.equal((await store.calls.usage())[0]?.captured, 2)
      await store.close()
    })
  })
})
