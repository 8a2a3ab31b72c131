import assert from 'node:assert/strict'
import { during } from '../../../../node/cli/terminal/progress.ts'
import type { Terminal } from '../../../../node/cli/terminal/terminal.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

describe('progress on the command line', () => {
  const terminal = testTerminal()

  it('shows a progress line after one second, and removes it at the end', async () => {
    const shown: string[] = []
    const looking: Terminal = { ...terminal, progress: (text) => void shown.push(text) }
    const work = Promise.withResolvers<number>()
    const done = during(looking, 'Waiting for the node', work.promise)
    assert.deepEqual(shown, [])
    await eventually('progress', 5_000, () => (shown.length > 0 ? true : undefined))
    assert.match(shown[0] ?? '', /^Waiting for the node… 1 s$/)
    work.resolve(42)
    assert.equal(await done, 42)
    assert.equal(shown.at(-1), '')
  })

  it('removes the line after a failure, and shows nothing without a terminal', async () => {
    const shown: string[] = []
    const looking: Terminal = { ...terminal, progress: (text) => void shown.push(text) }
    await assert.rejects(during(looking, 'x', Promise.reject(new Error('no'))), /no/)
    assert.deepEqual(shown, [''])
    assert.equal(await during(terminal, 'x', Promise.resolve(1)), 1)
    assert.equal(terminal.stdout() + terminal.stderr(), '')
  })
})
