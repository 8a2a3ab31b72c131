import { systemClock } from '../../lib/base/clock.ts'
import { systemRandom } from '../../lib/base/random.ts'
import { requestIds } from '../../lib/base/request-id.ts'
import type { CallRecord, StoredResponse } from '../../lib/interface/store.ts'
import { MANUAL_START } from './manual-clock.ts'

/** Ids with the start time of manual clocks. */
export const freshIds = requestIds({ ...systemClock, now: () => MANUAL_START }, systemRandom)

/** A well-formed peer id without a known key. */
export const peerId = (letter: string): string => `12D3KooW${letter.repeat(44)}`

export const storedResponse = (body = '{"ok":true}'): StoredResponse => ({
  status: 200,
  headers: [
    ['content-type', 'application/json'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2']
  ],
  body: new TextEncoder().encode(body)
})

/** A captured call with a new id, without a stored response. */
export function callRecord(overrides: Partial<CallRecord> = {}): CallRecord {
  return {
    peer: peerId('C'),
    requestId: freshIds.next(),
    api: `ticker@${peerId('P')}`,
    revision: 3,
    outcome: 'captured',
    status: 200,
    price: 1_500n,
    charged: 0n,
    requestHash: new Uint8Array(32).fill(7),
    at: 1_750_000_000_000,
    ownerMs: 12.25,
    upstreamMs: 9.5,
    ...overrides
  }
}
