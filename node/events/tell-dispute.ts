import { formatUsdc } from '../../lib/index.ts'
import type { Dispute } from '../../lib/interface/index.ts'
import type { Log } from '../log.ts'
import type { Events } from './events.ts'

/** Publishes a disputed charge, or the end of its dispute, and logs it. */
export async function tellDispute(
  { role, requestId, api, peer, amount, fault, state }: Dispute,
  { events, log }: { readonly events: Pick<Events, 'emit'>; readonly log: Log }
): Promise<void> {
  const facts = { role, request_id: requestId, api, peer, amount: formatUsdc(amount), fault, state }
  if (state === 'open') log.warn(SAID[role], facts)
  else log.info('A dispute about a charge ended.', facts)
  await events.emit(state === 'open' ? 'charge.disputed' : 'charge.settled', facts)
}

const SAID = {
  payer: 'An owner charged for a call without a valid receipt. This node pays it no more until it proves the charge.',
  owner: 'A payer disputes a charge, and this node could not sign the receipt. Is the wallet locked?'
} as const
