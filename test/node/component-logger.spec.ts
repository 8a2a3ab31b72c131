import assert from 'node:assert/strict'
import { createComponentLogger } from '../../node/component-logger.ts'

describe('the logs that --log enables', () => {
  /** The loggers that write a line with these patterns, and those that write a trace line. */
  function on(names: string): string[] {
    const written: string[] = []
    const factory = createComponentLogger(names, (text) => written.push(text.split(' ')[1] ?? ''))
    for (const name of ['souk:call', 'souk:pay', 'libp2p:tcp']) {
      const log = factory.forComponent(name)
      log('a line')
      log.trace('a trace line')
      log.error('an error')
      assert.equal(log.enabled, written.includes(name))
    }
    return written
  }

  it('are those that a pattern matches', () => {
    assert.deepEqual(on('souk:call'), ['souk:call'])
    assert.deepEqual(on('souk:*'), ['souk:call', 'souk:call:error', 'souk:pay', 'souk:pay:error'])
    assert.deepEqual(on('souk:pay, libp2p:*:error'), ['souk:pay', 'libp2p:tcp:error'])
    assert.deepEqual(on(''), [])
    assert.deepEqual(on(' , -'), [])
  })

  it('contain trace lines only if a pattern selects them', () => {
    assert.deepEqual(on('souk:pay*'), ['souk:pay', 'souk:pay:error'])
    assert.deepEqual(on('souk:call souk:*:trace'), ['souk:call', 'souk:call:trace', 'souk:pay:trace'])
  })

  it('omit excluded names, at any position of the exclusion', () => {
    assert.deepEqual(on('-souk:pay*,souk:*'), ['souk:call', 'souk:call:error'])
  })

  it('treat special characters of regular expressions literally', () => {
    assert.deepEqual(on('souk:(,[,souk:call+,.*'), [])
  })

  it('are the same for scopes', () => {
    const written: string[] = []
    const log = createComponentLogger('souk:call:one', (text) => written.push(text)).forComponent('souk:call')
    log.newScope('one')('%s', 'seen')
    log.newScope('two')('%s', 'not seen')
    assert.match(written.join('\n'), /^\d{4}-\d\d-\d\dT[\d:.]+Z souk:call:one seen$/)
  })

  it('apply to one node only, not to the process or other nodes', () => {
    const written: string[] = []
    createComponentLogger('souk:*', (text) => written.push(text))
    const other = createComponentLogger('', (text) => written.push(text)).forComponent('souk:call')
    other('a line')
    assert.deepEqual(written, [])
  })

  it('escape foreign text, so that it cannot forge lines or control the terminal', () => {
    const written: string[] = []
    const log = createComponentLogger('souk:*', (text) => written.push(text)).forComponent('souk:call')
    log('%s', '\u001b[2Jname\n2026-01-01T00:00:00.000Z souk:pay forged\r')
    const [, ...rest] = (written[0] ?? '').split('\n')
    assert.match(written[0] ?? '', /souk:call \\x1b\[2Jname\n/)
    assert.deepEqual(rest, ['    2026-01-01T00:00:00.000Z souk:pay forged\\x0d'])
  })
})
