import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAuthFile } from '../../../../node/cli/options/auth-file.ts'

describe('--auth-file', () => {
  let directory: string
  let path: string
  const write = (value: unknown, mode = 0o600) =>
    writeFile(path, typeof value === 'string' ? value : JSON.stringify(value), { mode })

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-auth-'))
    path = join(directory, 'auth.json')
  })
  afterEach(() => rm(directory, { recursive: true }))

  it('reads the JSON of the admin API, with certificate files beside it', async () => {
    await write({ bearer: 's3cr3t', tls: { cert_file: 'cert.pem', key_file: 'key.pem', passphrase: 'p' } })
    await writeFile(join(directory, 'cert.pem'), 'CERT')
    await writeFile(join(directory, 'key.pem'), 'KEY', { mode: 0o600 })
    assert.deepEqual(await readAuthFile(path), { bearer: 's3cr3t', tls: { cert: 'CERT', key: 'KEY', passphrase: 'p' } })
    await chmod(join(directory, 'key.pem'), 0o644)
    await assert.rejects(readAuthFile(path), { code: 'usage', message: /key\.pem is open to other users/ })
  })

  it('refuses a file that others may read', async () => {
    await write({ bearer: 's3cr3t' })
    await chmod(path, 0o640)
    await assert.rejects(readAuthFile(path), { code: 'usage', message: /chmod 600/ })
  })

  it('does not advise to change the mode of a directory', async () => {
    await chmod(directory, 0o755)
    await assert.rejects(readAuthFile(directory), { code: 'usage', message: /is a directory\. Give a file\.$/ })
  })

  for (const text of ['s3cr3t', '"s3cr3t"', '["s3cr3t"]', 'null', '{"bearer": "s3cr3t"', '']) {
    it(`refuses ${text === '' ? 'an empty file' : text}, without quoting it`, async () => {
      await write(text)
      await assert.rejects(readAuthFile(path), (error: Error) => {
        assert.doesNotMatch(`${error.message}${String(error.cause)}`, /s3cr3t/)
        return true
      })
    })
  }

  it('refuses a missing file', async () => {
    await assert.rejects(readAuthFile(path), { code: 'usage', message: /cannot be read/ })
  })
})
