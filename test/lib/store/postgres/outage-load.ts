import assert from 'node:assert/strict'
import type { Entry } from '../../../../lib/interface/ledger.ts'
import type { CallRecord, Store } from '../../../../lib/interface/store.ts'
import { callRecord, storedResponse } from '../../../helpers/call-record.ts'
import { eventually } from '../../../helpers/eventually.ts'

const DEPOSIT = 1_000_000_000n
const WORKERS = 8

export interface Load {
  /** The acknowledged writes. */
  readonly calls: CallRecord[]
  readonly drawn: bigint[]
  underWay(): number
  /** Resolves when each worker got a response to a later request. Fails if one got an error. */
  progress(): Promise<void>
  stop(): Promise<void>
}

/** Workers that record calls and draw on a balance in closed loops. */
export function startLoad(stores: readonly Store[]): Load {
  const load = { calls: [] as CallRecord[], drawn: [] as bigint[] }
  const errors: unknown[] = []
  const rounds: number[] = []
  const over = new AbortController()
  let underWay = 0
  const work = async (store: Store, worker: number): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round++) {
      rounds[worker] = round
      const record = callRecord({ price: 3n, charged: 3n, response: storedResponse() })
      const amount = BigInt(1 + (round % 3))
      underWay++
      await Promise.all([
        store.calls.append(record, { postings: postings('owed', 'earned', 3n) }),
        store.ledger.draw(move('balance', 'spent', amount, `${worker}/${round}`), 'balance')
      ]).then(([, outcome]) => {
        assert.equal(outcome, 'booked')
        load.calls.push(record)
        load.drawn.push(amount)
      })
      underWay--
    }
  }
  const depositing = stores[0]!.ledger.book(move('cash', 'balance', DEPOSIT, 'deposit'))
  const working = depositing.then(() =>
    Promise.all(
      stores.flatMap((store, s) =>
        Array.from({ length: WORKERS }, (_, w) =>
          work(store, s * WORKERS + w).catch((error: unknown) => void errors.push(error))
        )
      )
    )
  )
  return {
    ...load,
    underWay: () => underWay,
    async progress() {
      const before = [...rounds]
      await eventually('all workers to go on', 60_000, () => {
        assert.deepEqual(errors, [])
        const isOn =
          rounds.length === stores.length * WORKERS && rounds.every((round, i) => round > (before[i] ?? 0) + 1)
        return isOn || undefined
      })
    },
    async stop() {
      over.abort()
      await working
      assert.deepEqual(errors, [])
    }
  }
}

/** Checks that each acknowledged write exists once. */
export async function checkBooks({ calls, ledger }: Store, load: Load): Promise<void> {
  const recorded = await calls.recent({ limit: Number.MAX_SAFE_INTEGER })
  assert.equal(recorded.length, load.calls.length, 'each call is there once')
  for (const record of load.calls.slice(-50))
    assert.deepEqual(await calls.find(record.peer, record.requestId), { ...record, debited: 'owed' })
  assert.equal((await calls.usage())[0]?.captured, load.calls.length)
  const spent = load.drawn.reduce((sum, amount) => sum + amount, 0n)
  assert.deepEqual(await ledger.balances(''), [
    { account: 'balance', amount: spent - DEPOSIT },
    { account: 'cash', amount: DEPOSIT },
    { account: 'earned', amount: -3n * BigInt(load.calls.length) },
    { account: 'owed', amount: 3n * BigInt(load.calls.length) },
    { account: 'spent', amount: -spent }
  ])
}

function postings(from: string, to: string, amount: bigint): Entry['postings'] {
  return [
    { account: from, amount },
    { account: to, amount: -amount }
  ]
}

export function move(from: string, to: string, amount: bigint, reference: string): Entry {
  return { kind: 'test', reference, at: 0, postings: postings(from, to, amount) }
}
