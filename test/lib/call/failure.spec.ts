import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import { FAILURE_MEMBERS_CHARS_MAX, JSON_DEPTH_MAX } from '../../../lib/base/limits/call.ts'
import { failureError, failureFrame } from '../../../lib/call/failure.ts'

describe('the failure of a peer', () => {
  const frame = failureFrame(1, new SoukError('payment_required'))
  const membersOf = (members: string) => failureError({ ...frame, members }).members

  it('may have members up to a limit, because errors with offers are kept', () => {
    const sized = (length: number) => JSON.stringify({ x402: 'x'.repeat(length - '{"x402":""}'.length) })
    assert.ok(membersOf(sized(FAILURE_MEMBERS_CHARS_MAX))?.['x402'])
    assert.equal(membersOf(sized(FAILURE_MEMBERS_CHARS_MAX + 1)), undefined)
  })

  it('has no members where they are no object', () => {
    for (const text of ['', 'null', '[1]', '7', '{', '"x"']) assert.equal(membersOf(text), undefined)
  })

  it('has no members that nest too deeply to be written again', () => {
    const nested = (levels: number) => `{"x402":${'['.repeat(levels)}${']'.repeat(levels)}}`
    assert.ok(membersOf(nested(JSON_DEPTH_MAX - 1)))
    assert.equal(membersOf(nested(JSON_DEPTH_MAX)), undefined)
  })
})
