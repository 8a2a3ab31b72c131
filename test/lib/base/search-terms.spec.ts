import assert from 'node:assert/strict'
import { MANIFEST_BYTES_MAX } from '../../../lib/base/limits/directory.ts'
import { searchTerms } from '../../../lib/base/search-terms.ts'
import { cpuMs } from '../../helpers/cpu-time.ts'

describe('searchTerms', () => {
  it('gives words in lower case and without accents', () => {
    assert.deepEqual(searchTerms('Wetter-Dienst, Zürich Zu\u0308rich ﬁn 東京'), [
      'wetter',
      'dienst',
      'zurich',
      'fin',
      '東京'
    ])
  })

  it('takes no long time for a manifest of accents', () => {
    const marks = MANIFEST_BYTES_MAX / 4
    const started = cpuMs()
    assert.deepEqual(searchTerms(`a${'\u0301'.repeat(marks)}${'\u0316'.repeat(marks)}b`), ['ab'])
    const ms = cpuMs() - started
    assert.ok(ms < 1_000, `it took ${Math.round(ms)} ms`)
  })
})
