import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generatedContracts } from '../../../.ci/contracts.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

describe('the committed contracts', () => {
  it('equal the output of solc', () => {
    for (const [path, text] of generatedContracts()) {
      const isSame = readFileSync(join(ROOT, path), 'utf8') === text
      assert.ok(isSame, `${path} is not what its sources give: npm run contracts`)
    }
  })
})
