import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProgramFiles } from '../../node/program-files.ts'

describe('the files of the running program', () => {
  let home: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-program-'))
  })
  afterEach(() => rm(home, { recursive: true }))

  it('asks for a restart after they were replaced or removed', async () => {
    const path = join(home, 'package.json')
    await writeFile(path, '{}')
    const files = new ProgramFiles(path)
    assert.equal(files.restartNeeded, undefined)
    await writeFile(join(home, 'newer'), '{}')
    await rename(join(home, 'newer'), path)
    assert.equal(files.restartNeeded, 'the files of the program were replaced after its start')
    await rm(path)
    assert.equal(files.restartNeeded, 'the files of the program were removed after its start')
  })

  it('asks for none while its own package stays', () => {
    assert.equal(new ProgramFiles().restartNeeded, undefined)
  })
})
