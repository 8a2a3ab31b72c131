import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
const HELPER = new URL('souk-home.ts', import.meta.url).href
const spec = (failing: string) => `
import { soukHome, tellWhenFailed } from '${HELPER}'
describe('a suite', () => {
  let home
  const fail = (place) => { if (place === '${failing}') throw new Error(place) }
  before(async () => {
    fail('the first line')
    home = await soukHome()
    home.start('nonsense')
    await home.run('--version')
    fail('before')
  })
  tellWhenFailed(() => home)
  after(() => home?.close())
  beforeEach(() => fail('beforeEach'))
  it('runs', () => fail('test'))
  describe('a part', () => {
    before(() => fail('before of a part'))
    it('runs as well', () => {})
  })
})
`

describe('tellWhenFailed', () => {
  let directory: string

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-tell-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  async function outputOf(failing: string): Promise<string> {
    const file = join(directory, `${failing.replaceAll(' ', '-')}.spec.mjs`)
    await writeFile(file, spec(failing))
    return new Promise((resolve) => {
      const args = ['--conditions=development', MOCHA, '--no-config', '--exit', file]
      execFile(process.execPath, args, (_, stdout, stderr) => resolve(stdout + stderr))
    })
  }

  it('prints the output of a home once, whatever failed', async () => {
    for (const failing of ['before', 'beforeEach', 'test', 'before of a part']) {
      const output = await outputOf(failing)
      assert.match(output, /[1-9] failing/)
      assert.equal(output.split("Unknown command 'nonsense'").length, 2, output)
    }
  })

  it('prints nothing if all tests passed, or if there is no home yet', async () => {
    assert.doesNotMatch(await outputOf('nothing'), /nonsense|failing/)
    const output = await outputOf('the first line')
    assert.match(output, /1 failing/)
    assert.doesNotMatch(output, /nonsense|TypeError/)
  })
})
