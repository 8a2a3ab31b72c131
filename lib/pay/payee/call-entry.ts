import type { Atoms } from '../../base/money.ts'
import type { Posting } from '../../interface/ledger.ts'
import type { CallOutcome, CallRecord } from '../../interface/store.ts'
import type { Admission, Outcome } from '../../interface/payment-scheme.ts'
import type { PayeeChannel } from './payee-channel.ts'

/** The owner's record of a finished call. */
export function recordOf(admission: Admission, outcome: Outcome, kind: CallOutcome, charged: Atoms): CallRecord {
  const { requestId, api, peer, revision, price } = admission
  const { status, code, rule, requestHash, at, ownerMs, upstreamMs, response, claim, isHeld } = outcome
  return {
    peer,
    requestId,
    api,
    revision,
    outcome: kind,
    status,
    code,
    price,
    charged,
    rule,
    requestHash,
    at,
    ownerMs,
    upstreamMs,
    response,
    claim,
    isHeld
  }
}

/** The owner's postings for a call that is paid through a channel. */
export function postingsOf({ receivable, earned }: PayeeChannel, charged: Atoms): Posting[] {
  return [
    { account: receivable, amount: charged },
    { account: earned, amount: -charged }
  ]
}
