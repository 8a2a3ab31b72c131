import assert from 'node:assert/strict'
import { systemClock } from '../../../lib/base/clock.ts'
import { GRAPHQL_OPENING_MS } from '../../../lib/base/limits/graphql.ts'
import { opening } from '../../../protocols/graphql/result-events.ts'
import { BusyClock } from '../../helpers/busy-clock.ts'
import { settle } from '../../helpers/manual-clock.ts'

const NEVER = new AbortController().signal
const REFUSAL = '{"errors":[{"message":"not for you"}]}'

describe('the opening of a GraphQL subscription', () => {
  const begin = () => {
    const busy = new BusyClock()
    const first = Promise.withResolvers<IteratorResult<string, undefined>>()
    const results = { next: () => first.promise, return: async () => ({ done: true, value: undefined }) as const }
    const opened = opening(results, { ...systemClock, elapsed: busy.elapsed, after: busy.after }, NEVER)
    return { busy, opened, refuse: () => first.resolve({ done: false, value: REFUSAL }) }
  }

  it('is over when the API has not rejected it in time', async () => {
    const { busy, opened, refuse } = begin()
    busy.turn()
    assert.ok('results' in (await opened))
    refuse()
  })

  it('includes a rejection that arrived while this process stood still, so that it is not charged', async () => {
    const { busy, opened, refuse } = begin()
    busy.work(4 * GRAPHQL_OPENING_MS)
    busy.turn()
    await settle()
    refuse()
    assert.deepEqual(await opened, { ended: REFUSAL })
    assert.equal(busy.isTimed, false)
  })
})
