import assert from 'node:assert/strict'
import { checkCall } from '../../../lib/call/check-call.ts'
import type { CallInit } from '../../../lib/interface/souk.ts'

describe('the fields of a call', () => {
  const wrong: ReadonlyArray<readonly [part: object, message: RegExp]> = [
    [{ api: { name: 'Not A Name' } }, /`api` must be/],
    [{ api: undefined }, /`api` must be/],
    [{ api: 5 }, /`api` must be/],
    [{ timeoutMs: 0 }, /`timeoutMs` must be 1 to /],
    [{ timeoutMs: 0.5 }, /`timeoutMs`/],
    [{ timeoutMs: Number.NaN }, /`timeoutMs`/],
    [{ timeoutMs: 1_000_000 }, /`timeoutMs`/],
    [{ maxPrice: 1 }, /`maxPrice` must be/],
    [{ method: 'get' }, /`method` must be/],
    [{ method: '' }, /`method`/],
    [{ path: 'latest' }, /`path` must be/],
    [{ path: `/${'x'.repeat(10_000)}` }, /`path`/],
    [{ headers: { accept: '*/*' } }, /`headers` must be/],
    [{ idempotencyKey: '' }, /`idempotencyKey` must be/],
    [{ idempotencyKey: 'a\nb' }, /`idempotencyKey`/],
    [{ idempotencyKey: 'ключ' }, /`idempotencyKey`/],
    [{ idempotencyKey: 'x'.repeat(256) }, /`idempotencyKey`/],
    [{ traceparent: 5 }, /`traceparent` must be/],
    [{ payment: 5 }, /`payment` must be/],
    [{ consumer: 5 }, /`consumer` must be/],
    [{ requestId: new Uint8Array(15) }, /`requestId` must be/],
    [{ requestId: 'x' }, /`requestId`/]
  ]
  for (const [part, message] of wrong) {
    it(`cannot be ${JSON.stringify(part).slice(0, 60)}`, () => {
      assert.throws(() => checkCall({ api: 'ticker', ...part } as CallInit), { code: 'invalid_request', message })
    })
  }

  it('may be undefined, except the API', () => {
    checkCall({ api: 'ticker', method: undefined, maxPrice: undefined } as unknown as CallInit)
    checkCall({ api: { name: 'ticker' }, body: undefined })
  })
})
