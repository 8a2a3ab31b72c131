import assert from 'node:assert/strict'
import { renderPage } from './page.ts'

describe('the page of a benchmark', () => {
  it('shows each ratio with its aim, and the disk wait beside a ratio at 1', () => {
    const text = renderPage({
      ratios: { p50_at_1: 2, rps_at_32: 0.5 },
      suites: {},
      reports: {
        path: {
          ratios: [
            { name: 'p50_at_1', value: 2, better: 'lower', aim: 2.5, of: 'ours ÷ theirs', diskUs: 312.4 },
            { name: 'rps_at_32', value: 0.5, better: 'higher', aim: 0.6, of: 'ours ÷ theirs at 32' },
            { name: 'empty', value: Number.NaN, better: 'lower', of: 'nothing' }
          ],
          table: [
            ['', 'p50 µs'],
            ['ours', '1,000']
          ],
          notes: ['Two calls.']
        }
      },
      machine: { node: 'v24.0.0', cpu: 'A CPU', cores: 2 }
    })
    assert.equal(
      text,
      [
        'A CPU, 2 cores, Node.js 24.0.0.',
        '### `npm run bench -- path`',
        [
          '| Ratio | Value | Aim | Of |',
          '| --- | ---: | ---: | ---: |',
          '| `p50_at_1` | 2.00 | aim ≤ 2.5: met | ours ÷ theirs; waits 312 µs for the disk |',
          '| `rps_at_32` | 0.50 | aim ≥ 0.6: short | ours ÷ theirs at 32 |',
          '| `empty` | – |  | nothing |'
        ].join('\n'),
        ['|  | p50 µs |', '| --- | ---: |', '| ours | 1,000 |'].join('\n'),
        'Two calls.'
      ].join('\n\n')
    )
  })
})
