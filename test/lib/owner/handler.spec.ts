import assert from 'node:assert/strict'
import { createNode, handler, isSoukError, type SoukNode } from '../../../lib/index.ts'

describe('a handler', () => {
  let node: SoukNode
  let output: unknown
  before(async () => {
    node = await createNode()
    await node.start()
    await node.souk.serve(
      { name: 'values', price: '0' },
      handler(() => output)
    )
  })
  after(() => node.stop())

  const called = async (returned: unknown, body: unknown = 1): Promise<unknown> => {
    output = returned
    return (await node.souk.call({ api: 'values', body })).json()
  }

  it('returns values', async () => {
    assert.deepEqual(await called({ a: [1] }), { a: [1] })
    assert.equal(await called(undefined), null)
  })

  it('gets an error for values that JSON cannot hold, which names their place', async () => {
    for (const [returned, place] of [
      [new Map([[1, 2]]), 'the value has the type Map'],
      [[1].values(), 'the value has the type Array Iterator'],
      [{ total: 10n }, '`total` has the type bigint']
    ] as const) {
      const error = await called(returned).catch((cause: unknown) => cause)
      assert.ok(isSoukError(error))
      assert.deepEqual([error.code, error.source], ['upstream_invalid_response', 'upstream'])
      assert.ok(error.message.includes(place), error.message)
    }
  })

  it('gets no body that JSON cannot hold', async () => {
    for (const body of [new Map([[1, 2]]), new Set([1]), [1].values(), { at: () => 1 }, 10n]) {
      await assert.rejects(called(1, body), { code: 'invalid_request', message: /^The body .* has the type/ })
    }
  })
})
