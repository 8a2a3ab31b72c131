import assert from 'node:assert/strict'
import { MANIFEST_BYTES_MAX } from '../../../lib/base/limits/directory.ts'
import { searchTerms } from '../../../lib/base/search-terms.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'

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

  it('takes no long time for a manifest of accents', async () => {
    const marks = MANIFEST_BYTES_MAX / 4
    const text = `a${'\u0301'.repeat(marks)}${'\u0316'.repeat(marks)}b`
    await assertCpuBelow(1_000, () => assert.deepEqual(searchTerms(text), ['ab']))
  })
})
