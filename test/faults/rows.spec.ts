import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../docs/markdown.ts'
import { ROWS } from './rows.ts'

describe('the table of faults', () => {
  it('names spec files, programs and measurements that exist', () => {
    const missing = ROWS.flatMap(({ run }) => {
      if ('specs' in run) return run.specs.filter((spec) => globSync(spec, { cwd: ROOT }).length === 0)
      const file = 'measure' in run ? join('test/faults', run.measure) : run.program
      return existsSync(join(ROOT, file)) ? [] : [file]
    })
    assert.deepEqual(missing, [])
  })
})
