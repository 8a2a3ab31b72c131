import assert from 'node:assert/strict'
import { limits, utf8 } from '../../../lib/index.ts'
import { Captures } from '../../../node/events/captures.ts'

describe('recorded requests', () => {
  it('are recorded only while recording is on, and deleted afterwards', () => {
    const captures = new Captures()
    captures.keep('1', { city: 'Bern' })
    assert.equal(captures.find('1'), undefined)
    captures.set(true)
    captures.keep('2', { city: 'Bern' })
    captures.keep('3', utf8('{"city":"Chur"}'))
    assert.deepEqual([captures.find('2'), captures.find('3')], [{ city: 'Bern' }, { city: 'Chur' }])
    captures.set(false)
    assert.deepEqual([captures.find('2'), captures.count], [undefined, 0])
  })

  it('contain no secrets at any depth', () => {
    const captures = new Captures()
    captures.set(true)
    const body = { user: 'ann', password: 'hush', login: [{ apiKey: 'hush', access_token: { a: 'hush' } }] }
    captures.keep('1', body)
    assert.deepEqual(captures.find('1'), {
      user: 'ann',
      password: '[redacted]',
      login: [{ apiKey: '[redacted]', access_token: '[redacted]' }]
    })
    assert.ok(!JSON.stringify(captures.find('1')).includes('hush'))
  })

  it('are JSON of limited size and number', () => {
    const captures = new Captures()
    captures.set(true)
    captures.keep('form', utf8('a=1&b=2'))
    captures.keep('long', { text: 'x'.repeat(limits.CAPTURED_BODY_CHARS_MAX) })
    captures.keep(
      'stream',
      (async function* () {
        yield utf8('{}')
      })()
    )
    assert.equal(captures.count, 0)
    for (let at = 0; at <= limits.CAPTURED_CALLS_MAX; at++) captures.keep(String(at), { at })
    assert.equal(captures.count, limits.CAPTURED_CALLS_MAX)
    assert.deepEqual([captures.find('0'), captures.find('1')], [undefined, { at: 1 }])
  })
})
