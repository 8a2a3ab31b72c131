import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteStore } from '../../../lib/index.ts'
import { restoredAt } from '../../../lib/owner/restored.ts'
import { identityOf } from '../../../node/profile/identity.ts'
import { backUpProfile, backUpStopped, restoreProfile } from '../../../node/profile/profile-backup.ts'
import { writePrivateFile } from '../../../node/profile/private-file.ts'
import { openProfile, profileFile, type ProfileLocation } from '../../../node/profile/profile.ts'
import { SetupError } from '../../../node/setup-error.ts'

const BACKUP = new URL('../../../node/profile/profile-backup.ts', import.meta.url).href
const SECRETS = ['identity', 'wallet', 'passphrase', 'pepper'] as const
/** Enough that the store is not written at once. */
const STORED = 'x'.repeat(100_000)
const STORED_MANY = 50

describe('a restore of a profile', () => {
  let home: string
  let original: ProfileLocation
  let profile: ProfileLocation
  let backup: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-restore-'))
    original = { name: 'shop', directory: join(home, 'original') }
    profile = { name: 'shop', directory: join(home, 'restored') }
    backup = join(home, 'backup')
    await openProfile(original)
    await identityOf(original)
    for (const file of SECRETS.slice(1)) await writePrivateFile(profileFile(original, file), `the ${file}`)
    const store = createSqliteStore({ path: profileFile(original, 'store') })
    await store.open()
    for (let n = 0; n < STORED_MANY; n++) await store.documents.put('things', String(n), STORED)
    await store.close()
    await backUpStopped(original, backup)
  })
  afterEach(() => rm(home, { recursive: true }))

  async function checkComplete(): Promise<void> {
    await openProfile(profile)
    for (const file of SECRETS) {
      assert.deepEqual(await readFile(profileFile(profile, file)), await readFile(profileFile(original, file)))
    }
    const store = createSqliteStore({ path: profileFile(profile, 'store') })
    await store.open()
    assert.equal((await store.documents.list('things')).length, STORED_MANY)
    assert.ok((await restoredAt(store.documents)) > 0)
    await store.close()
  }

  /** Restores in a separate process, which is killed when a file of the profile changes for the `nth` time. */
  async function restoreUntil(nth: number): Promise<'killed' | 'done'> {
    await mkdir(profile.directory, { recursive: true, mode: 0o700 })
    const program = `
      import { watch } from 'node:fs'
      import { restoreProfile } from ${JSON.stringify(BACKUP)}
      const profile = ${JSON.stringify(profile)}
      let changes = 0
      watch(profile.directory, () => { if (++changes === ${nth}) process.kill(process.pid, 'SIGKILL') })
      await restoreProfile(profile, ${JSON.stringify(backup)})
      process.exit()`
    const args = [...process.execArgv, '--input-type=module', '-e', program]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    assert.ok(code === 0 || signal === 'SIGKILL', `it ended with ${code}`)
    return signal === null ? 'done' : 'killed'
  }

  it('that is killed at any time leaves no profile that a node would use, and can be repeated', async () => {
    let refused = 0
    for (let nth = 1; (await restoreUntil(nth)) === 'killed'; nth = Math.ceil(nth * 1.6)) {
      const fault = await openProfile(profile).then(
        () => 'none',
        (error: unknown) => (error instanceof SetupError ? error.code : error)
      )
      assert.match(String(fault), /^(?:none|profile_broken)$/)
      if (fault === 'none' && (await readdir(profile.directory)).includes('identity.key')) await checkComplete()
      else {
        refused++
        await restoreProfile(profile, backup)
        await checkComplete()
      }
      await rm(profile.directory, { recursive: true })
    }
    assert.ok(refused > 2, `${refused} were incomplete`)
    await checkComplete()
  })

  it('does not use a part of another store, and replaces no wallet', async () => {
    const isThere = { code: 'profile_exists' }
    for (const file of ['souk.db-wal', 'souk.db-journal', 'wallet.json']) {
      await mkdir(profile.directory, { mode: 0o700 })
      await writeFile(join(profile.directory, file), 'of another profile', { mode: 0o600 })
      await assert.rejects(restoreProfile(profile, backup), isThere)
      // As if a restore had been interrupted before.
      await writeFile(join(profile.directory, 'restoring'), '', { mode: 0o600 })
      if (file === 'wallet.json') await assert.rejects(restoreProfile(profile, backup), isThere)
      else await restoreProfile(profile, backup)
      await rm(profile.directory, { recursive: true })
    }
  })

  it('of a damaged backup leaves nothing', async () => {
    for (const [damage, code] of [
      [() => writeFile(join(backup, 'souk.db'), ''), 'profile_broken'],
      [() => writeFile(join(backup, 'souk.db'), 'no database'), 'profile_broken'],
      [() => writeFile(join(backup, 'souk.db-wal'), 'commits'), 'config_invalid'],
      [() => rm(join(backup, 'identity.key')), 'config_invalid']
    ] as const) {
      await damage()
      await assert.rejects(restoreProfile(profile, backup), { code })
      await openProfile(profile)
      assert.deepEqual(
        (await readdir(profile.directory)).filter((name) => !name.startsWith('lock')),
        []
      )
    }
  })

  it('refuses a backup that was killed: its identity comes last', async () => {
    const directory = join(home, 'another')
    let atCopy: readonly string[] = []
    await backUpProfile(original, directory, async (path) => {
      atCopy = await readdir(directory)
      await writeFile(path, '')
    })
    assert.deepEqual(atCopy, [])
    await rm(join(directory, 'identity.key'))
    await assert.rejects(restoreProfile(profile, directory), { code: 'config_invalid' })
  })
})
