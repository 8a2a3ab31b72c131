import assert from 'node:assert/strict'
import { didYouMeanText, similarTo } from '../../../../node/cli/terminal/similar.ts'

describe('similar words', () => {
  const apis = ['weather', 'whether-api', 'bb-sse-ticker', 'users', 'user']

  it('differ by a missing, wrong, additional or swapped character', () => {
    for (const typed of ['wether', 'weater', 'waether', 'weatherr', 'WEATHER', 'weathre'])
      assert.equal(similarTo(typed, apis)[0], 'weather', typed)
    assert.deepEqual(similarTo('usr', apis), ['user'])
    assert.deepEqual(similarTo('usre', apis), ['user'])
  })

  it('may be a part of the name', () => {
    assert.deepEqual(similarTo('ticker', apis), ['bb-sse-ticker'])
    assert.deepEqual(similarTo('bb-ticker', apis), ['bb-sse-ticker'])
  })

  it('are few, and none for a short, empty, long or quite different word', () => {
    for (const typed of ['', 'x', 'zzz', 'payments', 'w'.repeat(10_000)]) assert.deepEqual(similarTo(typed, apis), [])
    const many = Array.from({ length: 50 }, (_, at) => `weather${at}`)
    assert.equal(similarTo('weather', many).length, 3)
  })

  it('are named in a sentence', () => {
    assert.equal(didYouMeanText(['a']), 'Did you mean a?')
    assert.equal(didYouMeanText(['a', 'b', 'c']), 'Did you mean a, b or c?')
  })
})
