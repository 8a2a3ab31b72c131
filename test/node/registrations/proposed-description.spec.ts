import assert from 'node:assert/strict'
import { proposedDescription } from '../../../node/registrations/proposed-description.ts'

describe('the description proposed for an API', () => {
  const cases: ReadonlyArray<readonly [title: string, description: string, proposed: string | undefined]> = [
    ['Town Weather', 'Forecasts for towns.\nSecond line.', 'Town Weather: Forecasts for towns.'],
    ['Town Weather', '# Introduction\n\n---\n![logo](x.png)\r\n  Forecasts.', 'Town Weather: Forecasts.'],
    ['Town Weather', '<h1>Weather</h1>', 'Town Weather'],
    ['', 'Forecasts.', 'Forecasts.'],
    ['a\u0007\nb', '', 'a b'],
    [' ', '\n', undefined],
    ['x'.repeat(1_500), 'y'.repeat(1_500), `${'x'.repeat(1_500)}: ${'y'.repeat(498)}`]
  ]
  for (const [title, description, proposed] of cases) {
    it(`is ${JSON.stringify(proposed?.slice(0, 40))} for ${JSON.stringify(`${title.slice(0, 20)}|${description.slice(0, 40)}`)}`, () => {
      assert.equal(proposedDescription({ about: { title, description, servers: [] } }), proposed)
    })
  }

  it('is none without a document', () => {
    assert.equal(proposedDescription({}), undefined)
  })
})
