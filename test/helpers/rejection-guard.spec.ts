import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MOCHA = createRequire(import.meta.url).resolve('mocha/bin/mocha.js')
/** More files than workers, so that one worker runs several. */
const FILES = 3
const SPEC = `
it('leaves a rejection behind', async () => {
  void Promise.reject(new Error('nobody handles me'))
  await new Promise((resolve) => setTimeout(resolve, 10))
})
it('handles its rejection', () => Promise.reject(new Error('handled')).catch(() => {}))
`

describe('mocha with the rejection guard', () => {
  let directory: string
  const files: string[] = []

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-rejections-'))
    for (let no = 0; no < FILES; no++) {
      const file = join(directory, `${no}.spec.mjs`)
      await writeFile(file, SPEC)
      files.push(file)
    }
  })
  after(() => rm(directory, { recursive: true, force: true }))

  /** Exit code and output. */
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, [MOCHA, ...args], (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, output: stdout + stderr })
      )
    })

  it('fails the test in which a rejection is unhandled, with its stack', async () => {
    const { code, output } = await run(...files.slice(0, 1))
    assert.equal(code, 1)
    assert.match(output, /1 failing/)
    assert.match(output, /leaves a rejection behind:\s+Error: Unhandled rejection: Error: nobody handles me\s/)
    assert.match(output, /\s+at .*0\.spec\.mjs:3/)
  })

  it('does so in each file of a worker', async () => {
    const { code, output } = await run('--parallel', '--jobs', '2', ...files)
    assert.equal(code, FILES)
    assert.match(output, new RegExp(`${FILES} failing`))
    for (const no of files.keys()) assert.match(output, new RegExp(`nobody handles me\\s+at .*${no}\\.spec\\.mjs:3`))
  })
})
