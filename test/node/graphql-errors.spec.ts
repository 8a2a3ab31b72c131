import assert from 'node:assert/strict'
import { systemClock, utf8 } from '../../lib/index.ts'
import type { CallRecord, CallReply, Store } from '../../lib/interface/index.ts'
import { WatchedCalls } from '../../node/events/watch-calls.ts'
import { hasErrorsOnly } from '../../node/graphql-errors.ts'

describe('a GraphQL result with errors and no data', () => {
  const cases: ReadonlyArray<readonly [body: string, isSuch: boolean]> = [
    ['{"errors":[{"message":"no"}]}', true],
    [' {\n "errors" : [{}], "data": null }', true],
    ['{"data": null,"errors":[{}]}', true],
    ['{"errors":[{}],"data":{"a":1}}', false],
    ['{"errors":[]}', false],
    ['{"errors":"none"}', false],
    ['{"data":null}', false],
    ['{"data":{"a":null}}', false],
    ['{"errors":[', false],
    ['[{"errors":[{}]}]', false],
    ['', false]
  ]
  for (const [body, isSuch] of cases) {
    it(`${isSuch ? 'is' : 'is not'} ${JSON.stringify(body)}`, () => {
      assert.equal(hasErrorsOnly({ status: 200, body: utf8(body) }), isSuch)
      assert.equal(hasErrorsOnly({ status: 400, body: utf8(body) }), false)
    })
  }

  it('is an error in the log of calls, made and served', async () => {
    const watched = new WatchedCalls(systemClock)
    const body = utf8('{"errors":[{"message":"no"}]}')
    const requestId = new Uint8Array(16)
    const reply = { requestId, id: 'users@x', status: 200, body, charged: 0n, timing: {} } as unknown as CallReply
    const caller = { call: async () => reply } as unknown as Parameters<WatchedCalls['caller']>[0]
    await watched.caller(caller).call({ api: 'users', body: {} })
    const append = async () => 1
    const store = watched.store({ calls: { append } } as unknown as Store)
    const record = { requestId, at: 0, api: 'users@x', status: 200, ownerMs: 1, upstreamMs: 1, charged: 0n }
    for (const outcome of ['void', 'captured'] as const) await store.calls.append({ ...record, outcome } as CallRecord)
    assert.deepEqual(
      watched.feed.last().map(({ role, code }) => [role, code]),
      [
        ['payer', 'graphql_errors'],
        ['owner', 'graphql_errors'],
        ['owner', null]
      ]
    )
  })
})
