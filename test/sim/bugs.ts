import type { CallHandler } from '../../lib/interface/call.ts'
import type { Chain } from '../../lib/interface/chain.ts'
import type { DocumentPut } from '../../lib/interface/ledger.ts'
import type { CallLog, Documents, Store } from '../../lib/interface/store.ts'
import type { Reservation, PaymentScheme } from '../../lib/interface/payment-scheme.ts'
import { DEPOSIT_CREDITS } from '../../lib/pay/payee/deposit-credit.ts'
import { earnedOf, PAYEE_VOUCHERS } from '../../lib/pay/payee/payee-channel.ts'
import { PAYER_STATE } from '../../lib/pay/payer/payer-channel.ts'
import type { Disk } from './disk.ts'

/** A mistake at one seam of the code under test, which the invariants must detect. */
export interface Bug {
  readonly what: string
  /** The maximum number of seeds until it is detected. */
  readonly seeds: number
  store?(store: Store): Store
  chain?(chain: Chain): Chain
  paymentScheme?(paymentScheme: PaymentScheme): PaymentScheme
  handler?(handler: CallHandler): CallHandler
  /** Called between the death of a process and the next start. */
  afterDeath?(disk: Disk): void
}

const withCalls = (store: Store, calls: Partial<CallLog>): Store => ({ ...store, calls: { ...store.calls, ...calls } })
const withDocuments = (store: Store, documents: Partial<Documents>): Store => ({
  ...store,
  documents: { ...store.documents, ...documents }
})
const withScheme = (paymentScheme: PaymentScheme, changes: Partial<PaymentScheme>): PaymentScheme => ({
  scheme: paymentScheme.scheme,
  movesMoney: paymentScheme.movesMoney,
  authorise: (order) => paymentScheme.authorise(order),
  accept: (order, settled, sent) => paymentScheme.accept(order, settled, sent),
  fail: (order, failure) => paymentScheme.fail(order, failure),
  admit: (admission) => paymentScheme.admit(admission),
  ...changes
})
const withReservations = (
  paymentScheme: PaymentScheme,
  change: (reservation: Reservation) => Reservation
): PaymentScheme =>
  withScheme(paymentScheme, { admit: async (admission) => change(await paymentScheme.admit(admission)) })

export const BUGS: readonly Bug[] = [
  {
    what: 'an owner answers before its books are durable',
    seeds: 10,
    store: (store) =>
      withCalls(store, {
        append: async (record, effects) => void store.calls.append(record, effects).catch(() => {})
      })
  },
  {
    what: 'an owner does not find in its books what it ran',
    seeds: 40,
    store: (store) => withCalls(store, { find: async () => undefined })
  },
  {
    what: 'an owner runs what may have reached the API from an earlier process',
    seeds: 200,
    handler: (handle) => (call, signal) => {
      const { resentFromEpoch: _, ...rest } = call
      return handle(rest, signal)
    }
  },
  {
    what: 'a disk loses its last commit although it said that it was safe',
    seeds: 100,
    afterDeath: (disk) => disk.loseLastCommit()
  },
  {
    what: 'an older voucher is written over a newer one',
    seeds: 40,
    store(store) {
      const first = new Map<string, DocumentPut>()
      const older = (put: DocumentPut): DocumentPut => {
        if (put.collection !== PAYEE_VOUCHERS) return put
        const kept = first.get(put.key) ?? put
        first.set(put.key, kept)
        return kept
      }
      return withCalls(store, {
        append: (record, { documents = [], ...effects } = {}) =>
          store.calls.append(record, { ...effects, documents: documents.map(older) })
      })
    }
  },
  {
    what: 'an owner does not see that a payer is leaving',
    seeds: 200,
    chain: (chain) => ({
      ...chain,
      async channels(ids, at) {
        const { block, channels } = await chain.channels(ids, at)
        return { block, channels: channels.map(({ withdrawal: _, ...state }) => state) }
      }
    })
  },
  {
    what: 'an owner remembers more than it captured, and claims it',
    seeds: 100,
    store: (store) => ({
      ...store,
      ledger: {
        ...store.ledger,
        balance: async (account) => {
          const balance = await store.ledger.balance(account)
          return account.startsWith(earnedOf('' as '0x')) ? balance + balance / 2n : balance
        }
      }
    })
  },
  {
    what: 'an owner charges for calls that failed',
    seeds: 20,
    paymentScheme: (paymentScheme) => withReservations(paymentScheme, ({ capture }) => ({ capture, release: capture }))
  },
  {
    what: 'an owner tells another price than it booked',
    seeds: 10,
    paymentScheme: (paymentScheme) =>
      withReservations(paymentScheme, ({ capture, release }) => ({
        release,
        capture: async (outcome) => {
          const settled = await capture(outcome)
          return { ...settled, charged: settled.charged + 1n }
        }
      }))
  },
  {
    what: 'a payer forgets the responses that it had to pay for',
    seeds: 40,
    paymentScheme: (paymentScheme) => withScheme(paymentScheme, { accept: () => {} })
  },
  {
    what: 'a payer books what it paid twice',
    seeds: 20,
    store: (store) => ({
      ...store,
      ledger: {
        ...store.ledger,
        async book(entry, documents) {
          if (entry.kind === 'paid') await store.ledger.book({ ...entry, reference: `${entry.reference}/again` })
          return store.ledger.book(entry, documents)
        }
      }
    })
  },
  {
    what: 'an owner deletes calls that may still be repeated',
    seeds: 20,
    store: (store) => ({
      ...store,
      retention: { trim: (rules) => store.retention.trim({ ...rules, before: Infinity, freeBefore: Infinity }) }
    })
  },
  {
    what: 'an owner serves on credit before the credit is durable',
    seeds: 40,
    store: (store) =>
      withDocuments(store, {
        put: async (collection, key, value) => {
          const put = store.documents.put(collection, key, value)
          if (collection === DEPOSIT_CREDITS) void put.catch(() => {})
          else await put
        }
      })
  },
  {
    what: 'an owner forgets its credits when it starts',
    seeds: 200,
    store: (store) =>
      withDocuments(store, {
        list: async (collection) => (collection === DEPOSIT_CREDITS ? [] : store.documents.list(collection))
      })
  },
  {
    what: 'a payer opens its daily cap again whenever it starts',
    seeds: 200,
    store: (store) =>
      withDocuments(store, {
        put: async (collection, key, value) => {
          if (collection !== PAYER_STATE || key !== 'cap') await store.documents.put(collection, key, value)
        }
      })
  }
]
