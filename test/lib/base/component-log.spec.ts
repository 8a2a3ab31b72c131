import assert from 'node:assert/strict'
import { reasonOf, SILENT_LOG } from '../../../lib/base/component-log.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import { LOGGED_REASON_CHARS_MAX } from '../../../lib/base/limits/process.ts'

const refused = Object.assign(new Error('connect ECONNREFUSED https://rpc.example/key-A1'), { code: 'ECONNREFUSED' })

describe('the reason of an error in a log', () => {
  it('is its code and text, and the codes of its causes', () => {
    const middle = new TypeError('fetch failed', { cause: refused })
    const error = new SoukError('settlement_unavailable', 'The chain cannot be reached.', { cause: middle })
    assert.equal(reasonOf(error), 'settlement_unavailable - The chain cannot be reached. (TypeError, ECONNREFUSED)')
    assert.equal(reasonOf(new AggregateError([refused, refused], 'all failed')), 'AggregateError (ECONNREFUSED)')
  })

  it('never contains the text of a cause, which may quote a URL', () => {
    for (const error of [
      refused,
      new SoukError('internal_error', undefined, { cause: refused }),
      new Error('x', { cause: refused })
    ]) {
      assert.doesNotMatch(reasonOf(error), /key-A1/)
    }
  })

  it('is one line of limited length for any thrown value', () => {
    const long = new SoukError('invalid_request', `a\nb\u001b[2J${'x'.repeat(5_000)}`)
    assert.match(reasonOf(long), /^invalid_request - a b \[2Jx+$/)
    assert.equal(reasonOf(long).length, LOGGED_REASON_CHARS_MAX)
    for (const thrown of [undefined, null, 'text', 7, {}]) assert.equal(reasonOf(thrown), 'unknown')
    const loop = new Error('loop')
    loop.cause = loop
    assert.equal(reasonOf(loop), 'Error')
  })

  it('is not computed while the log is off', () => {
    assert.equal(SILENT_LOG.enabled, false)
    SILENT_LOG('%s', 'nothing')
    SILENT_LOG.newScope('x').trace('nothing')
  })
})
