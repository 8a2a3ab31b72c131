import { SoukError } from '../base/errors.ts'
import { ACCOUNT_CHARS_MAX, POSTINGS_MAX } from '../base/limits/store.ts'
import type { Atoms } from '../base/money.ts'
import type { Entry, Posting } from '../interface/ledger.ts'

/** The maximum amount of a signed 64-bit column, positive or negative. */
const AMOUNT_MAX = 2n ** 63n - 1n

/** @throws SoukError `internal_error`, because this node makes the entries, not a peer. */
export function checkEntry({ kind, reference, at, postings }: Entry): void {
  if (!isName(kind)) throw unbookable('its kind is not valid')
  if (!isName(reference)) throw unbookable('its reference is not valid')
  if (!Number.isSafeInteger(at)) throw unbookable('its time is not valid')
  checkPostings(postings)
}

/** The amount that the entry takes from `account`. @throws SoukError `internal_error` if it takes nothing */
export function drawnFrom({ postings }: Entry, account: string): Atoms {
  const amount = postings.find((posting) => posting.account === account)?.amount ?? 0n
  if (amount <= 0n) throw unbookable('it does not draw on the account')
  return amount
}

/** Checks everything that keeps the ledger balanced, before an entry joins a batch. @throws SoukError `internal_error` */
export function checkPostings(postings: readonly Posting[]): void {
  if (postings.length < 2 || postings.length > POSTINGS_MAX) throw unbookable('it has too few or too many postings')
  let sum = 0n
  for (const { account, amount } of postings) {
    if (!isName(account)) throw unbookable('an account is not valid')
    if (amount === 0n || amount > AMOUNT_MAX || amount < -AMOUNT_MAX) throw unbookable('an amount is not valid')
    sum += amount
  }
  if (sum !== 0n) throw unbookable('its postings do not sum to zero')
  if (hasTwice(postings)) throw unbookable('it contains an account twice')
}

/** A fast path, because nearly all entries have two postings and every call checks one. */
function hasTwice(postings: readonly Posting[]): boolean {
  if (postings.length === 2) return postings[0]?.account === postings[1]?.account
  return new Set(postings.map(({ account }) => account)).size < postings.length
}

const isName = (text: string): boolean => text !== '' && text.length <= ACCOUNT_CHARS_MAX && !text.includes('\0')

function unbookable(why: string): SoukError {
  return new SoukError('internal_error', `The entry cannot be booked: ${why}.`)
}
